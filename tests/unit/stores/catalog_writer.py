"""A process that writes to a catalog: `python catalog_writer.py PATH PREFIX COUNT`, or `… PATH hang`, which
opens a transaction, writes, says so and waits to be killed."""

import sys
import time
from pathlib import Path

from hearthmind.model.index import AnalysedPassage, FileState, Projection
from hearthmind.model.memory import Memory, MemoryType, Passage
from hearthmind.stores.catalog import open_catalog


def projection(note_id: str) -> Projection:
    memory = Memory(note_id, "home", note_id, f"{note_id}.md", MemoryType.NOTE, "v", "t", note_id)
    passages = [AnalysedPassage(Passage(seq, note_id, (1, 1)), "word", "", "", note_id) for seq in range(3)]
    return Projection(memory, note_id, FileState(1, 1), passages, ())


def main() -> None:
    catalog, warnings = open_catalog(Path(sys.argv[1]), "home")
    assert warnings == [], warnings
    if sys.argv[2] == "hang":
        with catalog.write() as write:
            for number in range(500):
                write.put(projection(f"hang{number}"))
            print("writing", flush=True)
            time.sleep(60)
    for number in range(int(sys.argv[3])):
        with catalog.write() as write:
            write.put(projection(f"{sys.argv[2]}{number}"))
    catalog.close()


if __name__ == "__main__":
    main()

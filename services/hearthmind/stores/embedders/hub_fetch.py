"""Fetches one model from the hub: `python -P hub_fetch.py <repository> <cache> <probe seconds> <file>...`

A process of its own, so that a name lookup, a connection or a download that hangs can be ended. Says on
standard output, a line each: `started`, `reached <bytes>`, then `done <folder>` or `failed <why>`.
"""

import sys


def main(repository: str, cache: str, seconds: float, files: list[str]) -> None:
    from huggingface_hub import HfApi, snapshot_download

    print("started", flush=True)
    try:
        about = HfApi().model_info(repository, timeout=seconds, files_metadata=True)
        sizes = {each.rfilename: each.size or 0 for each in about.siblings or ()}
        print("reached", sum(sizes.get(each, 0) for each in files), flush=True)
        folder = snapshot_download(repository, cache_dir=cache, allow_patterns=files)
        print("done", folder, flush=True)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent says it
        print("failed", " ".join(f"{type(error).__name__}: {error}".split())[:500], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:])

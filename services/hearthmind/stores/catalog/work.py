"""Reads of jobs, of answers already given, and of problems."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from hearthmind.model.index import IdempotentAnswer, Problem
from hearthmind.model.job import Job, JobState
from hearthmind.stores.catalog.reads import Reads, cursor_to, position_of
from hearthmind.stores.catalog.rows import JOB_COLUMNS, job_of
from hearthmind.stores.catalog.values import clean, instant, json_list, moment

ANSWERS_KEPT = timedelta(hours=24)


class WorkReads(Reads):
    def job(self, job_id: str) -> Job | None:
        row = self._row(f"SELECT {JOB_COLUMNS} FROM jobs WHERE id = ?", clean(job_id))
        return None if row is None else job_of(row)

    def jobs(
        self, states: Collection[JobState], after: str | None = None, limit: int = 50
    ) -> tuple[Sequence[Job], str | None, int]:
        """Newest first by creation; no states, no jobs."""
        among = json_list([state.value for state in states])
        created, job_id = position_of(after, 2) if after else ("\U0010ffff", "")
        limit = max(limit, 0)
        with self._connections.reading() as connection:
            total = connection.execute(
                "SELECT count(*) FROM jobs WHERE state IN (SELECT value FROM json_each(?))", [among]
            ).fetchone()[0]
            rows = connection.execute(
                f"SELECT {JOB_COLUMNS} FROM jobs WHERE state IN (SELECT value FROM json_each(?))"
                " AND (created, id) < (?, ?) ORDER BY created DESC, id DESC LIMIT ?",
                [among, created, job_id, limit + 1],
            ).fetchall()
        page = [job_of(row) for row in rows[:limit]]
        more = page and len(rows) > limit
        return page, cursor_to(rows[limit - 1][6], page[-1].id) if more else None, total

    def job_counts(self) -> Mapping[JobState, int]:
        """Every state, those without jobs at 0."""
        counts = dict.fromkeys(JobState, 0)
        counts.update(
            (JobState(state), count) for state, count in self._rows("SELECT state, count(*) FROM jobs GROUP BY state")
        )
        return counts

    def answer(self, key: str) -> IdempotentAnswer | None:
        row = self._row(
            "SELECT request, answer, at FROM answers WHERE key = ? AND at >= ?",
            clean(key),
            instant(self._connections.now() - ANSWERS_KEPT),
        )
        return None if row is None else IdempotentAnswer(row[0], row[1], moment(row[2]))

    def problems(self) -> Sequence[Problem]:
        """By path: those recorded for files, and notes whose front matter could not be read."""
        rows = self._rows(
            "SELECT path, line, what, remedy FROM problems"
            " UNION ALL SELECT path, NULL, problem, 'Correct the properties at the top of the note.' FROM notes"
            " WHERE problem IS NOT NULL AND path NOT IN (SELECT path FROM problems) ORDER BY 1"
        )
        return [Problem(*row) for row in rows]

"""Tables of the catalog. The file is derived: a change here raises SCHEMA_VERSION and rebuilds, it never
migrates."""

SCHEMA_VERSION = 2
APPLICATION_ID = 0x4845_4152  # "HEAR", so that somebody else's database is told from ours

# Terms arrive folded and joined by spaces, so everything but separators (Z) and control characters (Cc) is
# part of a token: marks, CJK bigrams, joiners, and letters newer than SQLite's Unicode tables (Cn).
TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cs Cf'"

# Rows that scans and filters touch are kept narrow; long text stands in tables of its own (bodies,
# passage_texts). A passage belongs to the note `key >> 20` (model.index.PASSAGE_BITS), which needs no index.
DDL = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE notes (
  note_key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL UNIQUE,
  folded_name TEXT NOT NULL,
  title TEXT NOT NULL,
  type TEXT NOT NULL,
  version TEXT NOT NULL,
  text_version TEXT NOT NULL,
  date TEXT,
  day TEXT,
  at TEXT,
  updated TEXT,
  summary TEXT NOT NULL,
  tags TEXT NOT NULL,
  aliases TEXT NOT NULL,
  importance INTEGER NOT NULL,
  project TEXT,
  folded_project TEXT,
  session TEXT,
  outcome TEXT,
  critical INTEGER NOT NULL,
  valid_from TEXT,
  valid_until TEXT,
  ours INTEGER NOT NULL,
  problem TEXT,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  text_digest BLOB NOT NULL,
  first_seen TEXT NOT NULL
);
CREATE INDEX notes_by_name ON notes (folded_name);
CREATE INDEX notes_by_text ON notes (text_digest);
CREATE INDEX notes_by_type ON notes (type, importance);
CREATE INDEX notes_with_problem ON notes (path) WHERE problem IS NOT NULL;

CREATE TABLE bodies (
  note_key INTEGER PRIMARY KEY REFERENCES notes ON DELETE CASCADE,
  properties TEXT NOT NULL,
  text TEXT NOT NULL
);

CREATE TABLE note_tags (
  note_key INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
  folded TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (note_key, folded)
) WITHOUT ROWID;
CREATE INDEX note_tags_by_tag ON note_tags (folded, tag);

CREATE TABLE tag_descriptions (folded TEXT PRIMARY KEY, description TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE passages (
  key INTEGER PRIMARY KEY,
  at TEXT,
  role TEXT,
  folded_role TEXT,
  outcome TEXT,
  importance INTEGER,
  embedded INTEGER NOT NULL,
  row_digest BLOB NOT NULL,
  terms_digest BLOB NOT NULL,
  embed_digest BLOB NOT NULL
);
CREATE INDEX passages_by_embedded ON passages (embedded);
CREATE INDEX passages_by_role ON passages (role) WHERE role IS NOT NULL;

CREATE TABLE passage_texts (
  key INTEGER PRIMARY KEY,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  headings TEXT NOT NULL,
  tags TEXT NOT NULL,
  ref TEXT,
  entry TEXT,
  text TEXT NOT NULL,
  embed TEXT NOT NULL
);

CREATE TABLE passage_tags (
  key INTEGER NOT NULL,
  folded TEXT NOT NULL,
  PRIMARY KEY (key, folded)
) WITHOUT ROWID;
CREATE INDEX passage_tags_by_tag ON passage_tags (folded);

CREATE VIRTUAL TABLE terms USING fts5(heading, stems, words, tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, 'row');

CREATE TABLE links (
  link_key INTEGER PRIMARY KEY AUTOINCREMENT,
  note_key INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  target_id TEXT,
  target TEXT NOT NULL,
  line INTEGER NOT NULL,
  relation TEXT NOT NULL,
  heading TEXT,
  block TEXT,
  embed INTEGER NOT NULL,
  markdown INTEGER NOT NULL,
  typed INTEGER NOT NULL
);
CREATE INDEX links_by_note ON links (note_key, position);
CREATE INDEX links_by_name ON links (name);
CREATE INDEX links_by_target ON links (target_id);

CREATE TABLE dropped (key INTEGER PRIMARY KEY);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  space TEXT NOT NULL,
  note_id TEXT,
  text_version TEXT,
  state TEXT NOT NULL,
  created TEXT NOT NULL,
  changed TEXT NOT NULL,
  reason TEXT,
  due TEXT,
  attempts INTEGER NOT NULL,
  error TEXT
) WITHOUT ROWID;
CREATE INDEX jobs_by_state ON jobs (state, created, id);

CREATE TABLE answers (key TEXT PRIMARY KEY, request TEXT NOT NULL, answer TEXT NOT NULL, at TEXT NOT NULL);
CREATE INDEX answers_by_time ON answers (at);

CREATE TABLE problems (path TEXT PRIMARY KEY, line INTEGER, what TEXT NOT NULL, remedy TEXT NOT NULL);

PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""

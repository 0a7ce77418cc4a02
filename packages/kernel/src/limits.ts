/**
 * Every bound of the engine, with its unit in its name. Sources: the wire contract (lines, nesting, keys),
 * the log's rules (buffers, times) and what the operating system gives.
 */
export const limits = {
  /** The longest line a writer makes, without its 0x0A. */
  writerLineBytesMax: 16_777_216,
  /** The longest line a reader takes unless told otherwise, without its 0x0A. */
  readerLineBytesMax: 67_108_864,
  /** The deepest nesting a writer makes; the envelope is level 1. */
  writerNestingLevelsMax: 100,
  /** The deepest nesting a reader builds values from; deeper lines are kept as bytes. */
  readerNestingLevelsMax: 512,
  /** The longest idempotency key, in UTF-8. */
  keyBytesMax: 256,
  /** So many lines of the key index that no sorted run covers become one. */
  keyRunLinesMin: 256,
  /** How far above the highest seq a stated one may lie and still be believed. */
  seqJumpMax: 4_294_967_296,
  /** How many places a damaged line may be cut at in the search for whole records. */
  salvageCutsMax: 64,
  /** How many hashes a tree frontier can hold: one per bit of 2^53. */
  frontierHashesMax: 53,
  /** Appended bytes are held back up to this many; also how much is written at once. */
  writeBufferBytes: 65_536,
  /** How many bytes one read takes. */
  readBlockBytes: 65_536,
  /** At least this much must be new before a turn end replaces the manifest. */
  manifestPublishBytes: 65_536,
  /**
   * A longer log waits for an eighth of its length, up to this: replacing the manifest must not cost more than
   * writing the log, and so much is read again in a few milliseconds.
   */
  manifestPublishBytesMax: 1_048_576,
  /** The part of a log's length that may be new before its manifest is replaced: one of so many. */
  manifestPublishPart: 8,
  /** The turn index gets one mark for each of these. */
  indexMarkBytes: 1_048_576,
  /** How many workspaces a manifest names. */
  workspacesMax: 16,
  /** A fragment of zeros longer than this is recorded by length only. */
  savedZerosBytesMax: 1_048_576,
  /** The longest manifest, owner record or marker that is read. */
  smallFileBytesMax: 1_048_576,
  /** How much of the content of a compressed file one of its members holds. */
  gzipMemberBytes: 1_048_576,
  /** The largest piece of a compressed file that is opened at once: a member that somebody else has made. */
  gzipForeignBytesMax: 67_108_864,
  /** How long a summary hook may take unless told otherwise, and what the default one quotes. */
  summaryHookMs: 60_000,
  summaryFactsMax: 32,
  summaryFactBytesMax: 512,
  /** How many bytes of the events that an eviction carries over may take. */
  carriedBytesMax: 1_048_576,
  /** How much a rewrite of the log reads, hashes or copies before the event loop gets its turn. */
  rewriteSliceBytes: 1_048_576,
  /** How many pieces of an unpacked file are held at once, to go back a little. */
  unpackedPiecesMax: 8,
  /** The pause after a failed eviction, doubled with each further one up to the longest. */
  evictionRetryMs: 1_000,
  evictionRetryMsMax: 3_600_000,
  /** The longest derived file that is written or read. */
  derivedFileBytesMax: 268_435_456,
  /** What an interrupted replacement of a derived file left is removed after this long. */
  derivedLeftoverKeepMs: 3_600_000,
  /** A frame is one write; more records than this are none. */
  frameRecordsMax: 65_536,
  /** Matches of a search are counted up to here unless everything is asked for. */
  searchTotalMax: 1_000,
  /** The longest query, in code points, and how many of its tokens are scored. */
  queryCodePointsMax: 4_096,
  queryTermsMax: 64,
  /** What a prefix stands for at most. */
  prefixExpansionsMax: 512,
  /** How many chunks are looked through for a text that has no token. */
  substringChunksMax: 20_000,
  /** How much may remain to be indexed for its records to be counted. */
  countedBehindBytesMax: 8_388_608,
  /** The most hits of one answer, and how many unless asked otherwise. */
  searchHitsMax: 100,
  searchHits: 10,
  /** So many chunks that are in memory alone are written down before a search ends. */
  searchTailLeftChunks: 512,
  /** Logs of no more bytes are indexed while somebody waits; of more, another engine that has them answers first. */
  searchBuiltAtOnceBytes: 1_048_576,
  /** How often a question is answered anew because damage was met while it was answered. */
  searchAnswersMax: 3,
  /** How long a search waits for its index to come up to the logs, unless told otherwise. */
  searchWaitMs: 200,
  /** How many paths of a hit are shown. */
  hitPathsMax: 20,
  /** How many records are looked back through for the time of one that states none. */
  asOfLookBackRecords: 64,
  /** The longest piece of text shown of a hit, in code points. */
  snippetCodePointsMax: 240,
  /** Chunks that are kept in memory before a segment is made of them, or one of so many of all chunks if that is more. */
  searchTailChunks: 4_096,
  searchTailPart: 2_048,
  /** Chunks that are kept in memory at most while segments are written. */
  searchTailChunksMax: 65_536,
  /** Segments are read, and checked, in pages of this length; how much of them is held in memory. */
  searchPageBytes: 65_536,
  searchCacheBytesMax: 33_554_432,
  /** How many segments there are at most, and which part of one may have left the corpus: one of so many. */
  searchSegmentsMax: 12,
  searchGonePart: 5,
  /** How long one piece of the work of writing a segment takes before the event loop gets its turn. */
  searchSliceMs: 5,
  /** A replaced segment is kept this long for others who still want to open it. */
  searchRetiredKeepMs: 60_000,
  /** How long other processes that write the index are waited for, when something must leave it, and how often. */
  searchPurgeWaitMs: 60_000,
  searchPurgePauseMs: 50,
  /** How often a search index is begun anew because another process wrote one meanwhile. */
  searchRebuildsMax: 3,
  /** How often a list of segments is read again because a file that it names is gone. */
  searchListReadsMax: 3,
  /** The longest list of segments that is read. */
  searchListBytesMax: 1_048_576,
  /** How many chunks of each list a hybrid search fuses. */
  fusedListChunksMax: 50,
  /** How many vectors are kept for the newest chunks of a store, and the longest file of them that is read. */
  searchVectorsMax: 262_144,
  vectorFileBytesMax: 268_435_456,
  /** How many chunks are encoded before the event loop gets its turn. */
  encodedChunksAtOnce: 16,
  /** So many chunks that were encoded and are in no file yet are written. */
  vectorsUnsavedMax: 1_024,
  /** Bytes of JSON that an MCP tool answers with, unless asked for more, and at most; what is kept free for a cursor. */
  mcpOutputBytes: 16_384,
  mcpOutputBytesMax: 65_536,
  mcpCursorBytes: 512,
  /** The longest message that an MCP server takes, and how many calls may wait for their turn. */
  mcpMessageBytesMax: 1_048_576,
  mcpWaitingCallsMax: 64,
  /** How many connections an MCP server over HTTP holds, and how short a token for it may be. */
  mcpConnectionsMax: 64,
  mcpTokenCharactersMin: 16,
  /** How many paths of one item a view keeps, and how long a path may be. */
  itemPathsMax: 1_024,
  pathCodeUnitsMax: 4_096,
  /** A longer time ago, as flags name it, is this long ago: before anything that an agent did. */
  agoDaysMax: 36_500,
  /** How many time zones are kept at hand. */
  timeZonesMax: 64,
  /** How long a replacing rename is tried again while another program holds the target. */
  renameRetryMsMax: 2_000,
  /** The pause between two looks at a followed log. */
  followPollMs: 250,
  /** How many directories in each other are gone through below one of ours. */
  walkLevelsMax: 32,
  /** The longest path that every supported system takes. */
  pathBytesMax: 1_023,
  /** A longer age, of sessions or of what lies in the trash, counts as this one. */
  retentionDaysMax: 36_500,
  /** A session that holds nothing is kept this long unless told otherwise: somebody may be about to write. */
  emptySessionKeepMs: 3_600_000,
  /** How many days a removed session stays in the trash unless told otherwise. */
  trashDays: 30,
  /** A removal that was cut short is taken up by another one within this time. */
  removalResumeMs: 86_400_000,
  /** How often a session is judged again because the ledger has grown meanwhile. */
  rejudgingsMax: 16,
  /** How often an opener begins anew because the session was removed under its hands. */
  reopeningsMax: 100,
  /** How many forks a conversation is followed back through. */
  forksFollowedMax: 64,
  /** How many sessions a list reads before the event loop gets its turn: a few milliseconds. */
  listTurnSessionsMax: 128,
  /** An owner whose state is unknown is displaced when its lock was silent for this long. */
  lockStaleMs: 60_000,
  /** How often a held lock is touched. */
  lockUpdateMs: 10_000,
  /** An unknown owner's lock of this age needs no further watching. */
  lockAbandonedMs: 3_600_000,
  /** How long a shared writer waits for the lock unless told otherwise. */
  sharedLockWaitMs: 10_000,
  /** A temp file of a blob that nobody wrote to for so long is one that a crash left. */
  blobWritingMsMax: 3_600_000,
  /** Claims to break a lock are removed by a writer after this long. */
  lockClaimKeepMs: 3_600_000,
  /** Damage reports kept in memory and shown; further ones are counted only. */
  damageReportsMax: 1_000,
  /** A value that is a secret by its name alone has at least so many UTF-16 units. */
  redactedValueUnitsMin: 8,
  /** A longer value is no secret by its name alone: assets in base64 are. */
  redactedValueUnitsMax: 4_096,
  /** The longest name that is looked at for whether it announces a secret, in UTF-16 units. */
  redactedNameUnitsMax: 128,
  /** The longest block of a private key, in UTF-16 units. */
  redactedPemUnitsMax: 16_384,
  /** The longest part of a token or of a URL that is taken for a secret, in UTF-16 units. */
  redactedTokenUnitsMax: 16_384,
  /** How many times a text is searched anew after a replacement. */
  redactionRoundsMax: 8,
  /** How many strings in strings are looked at as JSON. */
  redactionInnerJsonLevelsMax: 4,
  /** How many short texts without a secret a redactor remembers, and how long in UTF-16 units they are at most. */
  redactionCleanTextsMax: 4_096,
  redactionCleanTextUnitsMax: 32,
  /** How many patterns of their own users may add to the redaction. */
  userPatternsMax: 64,
  /** The shortest and the longest text that such a pattern may find, in UTF-16 units. */
  userPatternUnitsMin: 4,
  userPatternUnitsMax: 1_024,
  /** What an unbounded repetition in such a pattern stops at. */
  userPatternRepeatsMax: 256,
  /** How long a reader waits for another process to write the redaction key that it has created. */
  redactionKeyWaitMsMax: 500,
  /** How many bytes of an exported document are written, and read back, at once. */
  exportWriteBytes: 262_144,
  /** A damaged place that is longer is not redacted in one piece, so its bytes are left out. */
  exportedDamageBytesMax: 1_048_576,
  /** The largest image that is put into an exported page. */
  inlineImageBytesMax: 8_388_608,
  /** The longest chunk of a text that is searched, in UTF-8. */
  chunkBytesMax: 4_096,
  /** How much of the text of one record is searched: half of that from its start, half from its end. */
  indexedTextBytesMax: 1_048_576,
  /** How much of a record of an unknown type is searched, and how deep. */
  unknownTextBytesMax: 8_192,
  unknownTextLevelsMax: 8,
  /** How many ids of items are known by their hash, and the longest of them in UTF-16 units. */
  knownItemsMax: 4_096,
  knownItemUnitsMax: 128,
  /** The longest token of a search index, in code points. */
  tokenCodePointsMax: 96,
  /** How many words and identifiers the tokenizer remembers the tokens of, and how long in UTF-16 units they are. */
  knownTokensMax: 16_384,
  knownTokenUnitsMax: 64,
  /** How many of them a tail of the search index knows by their characters. */
  knownCompoundsMax: 65_536,
  /** The longest audit pack that is read, and the most files that it lists. */
  packBytesMax: 67_108_864,
  packEntriesMax: 1_000_000,
  /** How many marks a pack holds to tell which records were changed: behind that one mark stands for several. */
  packMarksMax: 262_144,
  /** The longest signature, checkpoint, key or list of keys that is read. */
  signatureFileBytesMax: 1_048_576,
  /** The longest record that is checked against a proof, and the longest proof. */
  proofFileBytesMax: 1_048_576,
  /** How many lines of a checkpoint are looked at, and how many keys are trusted. */
  noteLinesMax: 1_000,
  trustedKeysMax: 1_000,
  /** The longest answer of an ssh-agent, and how long it is waited for. */
  agentMessageBytesMax: 262_144,
  agentWaitMs: 60_000,
  /** How much is read at once of files that are hashed or copied whole. */
  hashBlockBytes: 1_048_576,
  /** From how many bytes on a log is hashed in a thread of its own, and how long that may say nothing. */
  hashWorkerBytesMin: 67_108_864,
  hashWorkerWaitMs: 60_000,
  /** How many blocks are on their way to it at most, and how many leaves go into one. */
  hashBlocksMax: 32,
  hashBlockLeavesMax: 8_192,
  /** How many differing members a divergence names, and how much of a text is shown around the first difference. */
  divergenceDifferencesMax: 20,
  divergenceTextCodePointsMax: 240,
  /** How many of the records before a divergence are shown. */
  divergenceRecordsBefore: 3,
  /** For how many turns of the event loop a replay keeps an answer back for a call that ended before it. */
  replayQuietTurnsMax: 50,
  /** How many redacted records of one log are matched with what was said about them. */
  redactedRecordsMax: 1_000_000,
  /** How many bytes of records may be redacted in one run. */
  redactedAtOnceBytes: 134_217_728,
  /** How far from its end a log is looked at for a redaction that was cut short. */
  statementTailRecords: 64,
  /** A shorter record without a salt may be guessed from its hash. */
  guessableRecordBytesMax: 1_024,
} as const;

import { type Flag, switchFlag, textFlag, textsFlag } from './flag.js';

/** The flags of `pack`, `verify`, `prove` and `redact`, each once. */

export const packDirectoryFlag: Flag<string> = textFlag(
  'out',
  'DIR',
  'put the pack into this directory',
  'directories',
);
export const deepPackFlag: Flag<true> = switchFlag(
  'deep',
  'read all of the log again, whatever an earlier pack says of its beginning',
);
export const storePackFlag: Flag<true> = switchFlag(
  'store',
  'a pack of the whole store: its ledger, and the last root of every session',
);
export const withAssetsFlag: Flag<true> = switchFlag(
  'with-assets',
  'look at the blobs that the log names, too',
);
export const bundleFlag: Flag<string> = textFlag(
  'bundle',
  'FILE',
  'put session, blobs and pack into one tar file as well',
  'files',
);
export const signingKeyFlag: Flag<string> = textFlag(
  'key',
  'FILE',
  'sign with the Ed25519 key in this file; with --ssh-agent, its public key',
  'files',
);
export const sshAgentFlag: Flag<true> = switchFlag('ssh-agent', 'sign with a key that the ssh-agent keeps');
export const originFlag: Flag<string> = textFlag(
  'origin',
  'NAME',
  'what the checkpoint calls the log; turnlog/ID unless said otherwise',
);
export const noRecordFlag: Flag<true> = switchFlag('no-record', 'do not say in the log that it was packed');
export const copyDirectoryFlag: Flag<string> = textFlag(
  'dir',
  'DIR',
  'a copy of a session; with an ID, where its pack lies',
  'directories',
);
export const exactFlag: Flag<true> = switchFlag('exact', 'nothing may have come since either');
export const trustFlag: Flag<string> = textFlag(
  'trust',
  'FILE',
  'the keys that are believed: allowed_signers, or verifier keys',
  'files',
);
export const requirePackFlag: Flag<true> = switchFlag('require-pack', 'fail where there is no pack');
export const requireSignatureFlag: Flag<true> = switchFlag(
  'require-signature',
  'fail without a signature by a trusted key',
);
export const proofFlag: Flag<string> = textFlag('proof', 'FILE', 'check a proof that prove printed', 'files');
export const proofRecordFlag: Flag<string> = textFlag(
  'record',
  'FILE',
  'the record that the proof must be about, as it is stored',
  'files',
);
export const fromPackFlag: Flag<string> = textFlag(
  'from',
  'PACK',
  'the earlier of two packs, whose consistency is proved',
  'files',
);
export const toPackFlag: Flag<string> = textFlag('to', 'PACK', 'the later one', 'files');

export const redactionReasonFlag: Flag<string> = textFlag(
  'reason',
  'CODE',
  'why the records go, in a word that stays in the log: secret, privacy, …',
);
export const acceptGuessableFlag: Flag<true> = switchFlag(
  'accept-guessable',
  'redact short records without a salt too, though what stood there can be guessed from the hash that stays',
);
export const scanFlag: Flag<readonly string[]> = textsFlag(
  'scan',
  'PATTERN',
  'list the records in which this is found: a kind of secret (key, pem, jwt, url, auth, assign, user, high-entropy) or a pattern; may be given more than once',
);
export const applyRedactionFlag: Flag<true> = switchFlag('apply', 'redact what --scan finds');

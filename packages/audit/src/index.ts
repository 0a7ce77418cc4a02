export { type PackedPlace, type PackOptions, type PackReport, packSession } from './build-pack.js';
export { type BundledFile, memorySource, unpackBundle, writeBundle } from './bundle.js';
export { readPublicKeyFile, readSigner, type Signer, verifyEd25519 } from './ed25519.js';
export type { HashWorkers } from './leaf-hasher.js';
export { proveConsistency, proveInclusion } from './leaf-roots.js';
export { type OwnPart, type Pack, type PackEntry, type PackTree, parsePack } from './pack.js';
export { consistencyJson, inclusionJson, type ProofFile, parseProofFile } from './proof-file.js';
export {
  type ConsistencyProof,
  consistencyRanges,
  type InclusionProof,
  inclusionRanges,
  isLeafOf,
  verifyConsistency,
  verifyInclusion,
} from './proofs.js';
export { previewRedaction, type RedactionReport, redactSession } from './redact.js';
export type { RedactedAssets } from './redacted-assets.js';
export {
  isRedactable,
  type PlannedRedaction,
  type RedactionCause,
  type RedactionRequest,
} from './redaction-plan.js';
export { type RemovedSession, removedSession } from './removed-session.js';
export { type RedactionCandidate, SecretScan, type SecretSearch, secretSearch } from './scan-secrets.js';
export { packDirectoryOf, packNames } from './session-files.js';
export { checkNote, noteKeyId, parseNote, type SignedNote, signNote } from './signed-note.js';
export { agentSigner } from './ssh-agent.js';
export { packNamespace, parseSshSignature, type SshSignature, signSsh, verifySsh } from './sshsig.js';
export { packStore, type StorePackReport, verifyStore } from './store-pack.js';
export { type LeafRange, perfectRanges, RangeRoots, type TreeRoot } from './tree.js';
export { parseTrustedKeys, type TrustedKey } from './trusted-keys.js';
export { type UnfinishedOptions, unfinishedRedactions } from './unfinished-redactions.js';
export {
  type Assurance,
  type Diagnosis,
  type Findings,
  type Mismatch,
  type Verdict,
  verdictExits,
  verdictOn,
} from './verdict.js';
export { findingsJson } from './verdict-json.js';
export { type VerifyRequest, verifyPack } from './verify-pack.js';
export { type Comparison, verifyCopy, verifySession } from './verify-session.js';

export {
  type Attempt,
  Attempts,
  type EventName,
  type Fate,
  isRefusal,
  lineOf,
  type TriedAppend,
} from './attempts.js';
export { type CheckDepth, checkInvariants, type Subject } from './check-invariants.js';
export { describeFileSystem, type FileSystemSubject } from './contract/fs-contract.js';
export { describeWriterLocks, type LockSubject } from './contract/lock-contract.js';
export {
  type CrashLimits,
  type CrashOutcome,
  type CrashScenario,
  type CrashWorld,
  describeCrashes,
  enumerateCrashes,
} from './crash-enumerator.js';
export { lookBeforeEachCall } from './crash-moments.js';
export { copyDisk, type DamageLimits, enumerateDisks } from './damage.js';
export type {
  AppendAnswer,
  AppendChoices,
  CapUnderTest,
  DurabilityClass,
  EngineOptions,
  EngineUnderTest,
  LogUnderTest,
  RangeOfSeqs,
  RawInput,
  SharedLogUnderTest,
} from './engine-under-test.js';
export { FakeClock, type FakeSleep } from './fake-clock.js';
export { FakeHost, type FakeHostOptions } from './fake-host.js';
export { createFakeLocks, type FakeLocksOptions, FakeLockTable } from './fake-locks.js';
export { type Call, type Fault, FaultFileSystem, type FaultVerb } from './fault-fs.js';
export { FaultLoop, type FaultOutcome } from './fault-loop.js';
export { evictedLeavesOf, type NaiveHistory, type ReadFile, readHistory } from './history-model.js';
export { JudgedDisks } from './judged-disks.js';
export {
  followLifecycle,
  type NaiveLog,
  type NaiveRecord,
  type NaiveTurn,
  naiveIndex,
  naiveLeaf,
  naiveManifest,
  naiveRoot,
  naiveTree,
  readNaively,
} from './log-model.js';
export { type LookAlike, lookAlikes, placeholders } from './look-alikes.js';
export { ModelDirectory, type ModelLink, type ModelNode } from './model-directory.js';
export { CrashSignal } from './model-errors.js';
export { ModelFile } from './model-file.js';
export { ModelFileSystem, type ModelOptions } from './model-fs.js';
export {
  type Carrier,
  carriers,
  type Planted,
  type PlantedKind,
  plantSecrets,
  readings,
  stringsIn,
} from './planted-secrets.js';
export { SeededRandom } from './seed.js';
export { createSeededIds } from './seeded-ids.js';
export { makeTemporaryDirectory, type TemporaryDirectory } from './temporary-directory.js';
export { createTestMachine, type TestMachine, type TestMachineParts } from './test-machine.js';

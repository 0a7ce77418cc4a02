export { rekeyFixture, trimFixture } from './change-fixture.js';
export { checkFixture, type FixtureCheck } from './check-fixture.js';
export {
  type Divergence,
  DivergenceError,
  type DivergenceKind,
  divergenceText,
  type ShownDifference,
  type ShownValue,
} from './divergence.js';
export type { ExpectMode } from './expectations.js';
export {
  type ClockMode,
  type Exchange,
  exchangeKey,
  type FixtureDescription,
  type FixtureSource,
  type Gap,
  type GapReason,
  type IdMode,
  type MatchRules,
  type Outcome,
  type RecordedError,
} from './fixture.js';
export { type FixtureMode, fixtureMode, type WithFixtureOptions, withFixture } from './fixture-mode.js';
export { RawJson } from './live-value.js';
export { type MakeOptions, makeFixture } from './make-fixture.js';
export type { MatchMode } from './matching.js';
export type { TurnRange } from './part-fixture.js';
export { openFixture, Player, type PlayOptions, type PlayReport, type ServedCall } from './player.js';
export type { AgentClock, AgentLog, AgentPorts, Answer } from './ports.js';
export { type Fixture, readFixture } from './read-fixture.js';
export { type LivePorts, type RecordOptions, record } from './recorder.js';
export type { ReplayClock } from './replay-clock.js';
export type { ReplayIds } from './replay-ids.js';
export { type AgentOutcome, type AgentRequest, type RunOptions, runAgent } from './run-agent.js';
export type { StoredValue } from './stored-value.js';
export { networkExit, watchNetwork } from './watch-network.js';
export {
  type Existing,
  type FixtureAsset,
  type FixtureContent,
  type FixtureEnvironment,
  writeFixture,
} from './write-fixture.js';

/**
 * The shapes of keys that providers hand out, as they document them: how a key begins, which characters follow
 * and how many. A new shape raises `redactionListVersion`.
 */

export interface KeyShape {
  readonly prefix: string;
  /** Sticky: the run of characters that may follow the prefix. */
  readonly body: RegExp;
  readonly lengthMin: number;
  /** A longer run, or a further letter or digit, is no key of this shape; null when keys may be longer. */
  readonly lengthExact: number | null;
  /** A short prefix proves little: the body must look random as well. */
  readonly isDoubtful: boolean;
}

/** Longer keys are cut here; nothing that is handed out as one key is longer. */
const hex = /[0-9a-fA-F]{1,512}/y;
const upper = /[A-Z0-9]{1,512}/y;
const letters = /[A-Za-z0-9]{1,512}/y;
const word = /[A-Za-z0-9_-]{1,512}/y;
const dots = /[A-Za-z0-9_.-]{1,1024}/y;
const base64 = /[A-Za-z0-9+/=_-]{1,1024}/y;

function atLeast(prefixes: string, body: RegExp, lengthMin: number): readonly KeyShape[] {
  return prefixes
    .split(' ')
    .map((prefix) => ({ prefix, body, lengthMin, lengthExact: null, isDoubtful: false }));
}

function exactly(prefixes: string, body: RegExp, lengthExact: number): readonly KeyShape[] {
  return prefixes
    .split(' ')
    .map((prefix) => ({ prefix, body, lengthMin: lengthExact, lengthExact, isDoubtful: false }));
}

function doubtful(prefixes: string, body: RegExp, lengthMin: number): readonly KeyShape[] {
  return atLeast(prefixes, body, lengthMin).map((shape) => ({ ...shape, isDoubtful: true }));
}

const cloud: readonly KeyShape[] = [
  exactly('AKIA ASIA ABIA ACCA', upper, 16),
  exactly('dop_v1_ doo_v1_ dor_v1_', hex, 64),
  exactly('LTAI', letters, 20),
  exactly('AKID', letters, 32),
  exactly('dapi', hex, 32),
  exactly('pul- sbp_', hex, 40),
  exactly('AGE-SECRET-KEY-1', upper, 58),
  atLeast('AIza', word, 35),
  atLeast(
    'GOCSPX- HRKU- NRAK- tskey- PMAK- CFPAT- figd_ ntn_ ops_ nfp_ sb_secret_ pscale_tkn_ pscale_pw_',
    word,
    20,
  ),
  atLeast('ya29. hvs. hvb. hvr. dp.pt. dp.st. dp.ct. sl.', dots, 24),
  atLeast('glc_ glsa_ sntrys_ sntryu_ fm1_ fm2_ fo1_', base64, 32),
  atLeast('lin_api_ lin_oauth_', letters, 32),
].flat();

const models: readonly KeyShape[] = [
  atLeast('sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf- lsv2_pt_ lsv2_sk_ pcsk_', word, 20),
  doubtful('sk-', letters, 20),
  atLeast('gsk_ hf_ xai- pplx- jina_ tgp_v1_', letters, 30),
  atLeast('r8_', letters, 37),
  atLeast('nvapi- csk- tvly-', word, 28),
  doubtful('fw_', letters, 24),
  doubtful('pa-', word, 43),
  exactly('fc-', hex, 32),
  exactly('e2b_', hex, 40),
  atLeast('ABSK bedrock-api-key-', base64, 100),
].flat();

const gitHosting: readonly KeyShape[] = [
  atLeast('ghp_ gho_ ghu_ ghs_ ghr_', letters, 36),
  atLeast('github_pat_', word, 60),
  atLeast('glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- GR1348941', dots, 20),
  atLeast('ATBB BBDC-', base64, 32),
  atLeast('ATATT3 ATCTT3', base64, 60),
].flat();

const chat: readonly KeyShape[] = [
  atLeast(
    'xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxo- xoxe- xoxe.xoxb- xoxe.xoxp- xapp- xwfp-',
    word,
    20,
  ),
].flat();

const payment: readonly KeyShape[] = [
  atLeast('sk_live_ sk_test_ rk_live_ rk_test_ rzp_live_ FLWSECK- FLWSECK_TEST-', word, 14),
  atLeast('whsec_', base64, 24),
  atLeast('sq0atp- sq0csp- EAAAE EAAAF access_token$production$ access-production-', word, 22),
  exactly('shpat_ shpca_ shppa_ shpss_', hex, 32),
].flat();

const mail: readonly KeyShape[] = [
  atLeast('SG.', dots, 60),
  atLeast('xkeysib- xsmtpsib-', word, 60),
  exactly('SK key-', hex, 32),
  doubtful('re_', word, 30),
].flat();

const registries: readonly KeyShape[] = [
  atLeast('npm_', letters, 36),
  atLeast('pypi-', word, 50),
  exactly('rubygems_', hex, 48),
  exactly('oy2', letters, 43),
  exactly('cio', letters, 32),
  atLeast('dckr_pat_ dckr_oat_', word, 24),
  atLeast('AKCp', letters, 60),
  atLeast('CLOJARS_', letters, 60),
].flat();

/** Longest prefix first: of two that begin alike, the one that says more is tried first. */
export const keyShapes: readonly KeyShape[] = [cloud, models, gitHosting, chat, payment, mail, registries]
  .flat()
  .sort((one, other) => other.prefix.length - one.prefix.length);

/** A shape without a prefix of its own. */
export interface IrregularKey {
  /** What every key of the shape holds: text without it, which nearly all is, need not be searched. */
  readonly mark: string;
  readonly shape: RegExp;
}

/**
 * Shapes without a prefix of their own. Each begins with a literal, or where no run of its first characters goes
 * on to the left, and every repetition is bounded: none is tried twice within one run.
 */
export const irregularKeys: readonly IrregularKey[] = [
  // Chat: bot tokens and the addresses that whoever knows them may post to.
  { mark: ':AA', shape: /(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33,64}/g },
  {
    mark: '.',
    shape: /(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,64}/g,
  },
  {
    mark: 'hooks.slack',
    shape: /hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9_/-]{20,256}/g,
  },
  {
    mark: 'webhooks/',
    shape: /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/[0-9]{15,22}\/[A-Za-z0-9_-]{60,128}/g,
  },
  // Cloud: a mark inside, after a few characters.
  { mark: '.atlasv1.', shape: /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,128}/g },
  { mark: 'Q~', shape: /(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,40}/g },
  // Mail: a digest with the region behind it.
  { mark: '-us', shape: /(?<![A-Za-z0-9])[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])/g },
];

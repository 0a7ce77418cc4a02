import type { MissingPart } from '@turnlog/store';

const reasons: Readonly<Record<MissingPart['reason'], string>> = {
  unnamed: 'the fork does not name it',
  'no-end': 'the fork does not say up to where it is shared',
  absent: 'it is not in this store',
  unreadable: 'it cannot be read',
  gone: 'its records have left the log',
  short: 'its log ends before the fork',
  loop: 'the forks lead back to themselves',
  'too-long': 'there are too many forks before it',
};

/** A part of the conversation that cannot be shown, in words. */
export function missingText({ reason, parent, fromSeq, toSeq }: MissingPart): string {
  const range = fromSeq === null || toSeq === null ? '' : `, records ${fromSeq} to ${toSeq}`;
  return `A part of this conversation is missing: ${parent ?? 'an unnamed session'}${range}: ${reasons[reason]}.`;
}

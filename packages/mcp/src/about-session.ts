import { type Redactor, safeLine } from '@turnlog/store';

interface SessionFacts {
  readonly title: string | null;
  readonly agent: string | null;
  readonly workspaces: readonly string[];
}

const textCodePoints = 200;
const workspacesMax = 3;

/** What a session is about, in few bytes: secrets are taken out of the whole texts, then these are cut. */
export function aboutSession({ title, agent, workspaces }: SessionFacts, egress: Redactor): SessionFacts {
  return {
    title: title === null ? null : shortLine(title, egress),
    agent: agent === null ? null : shortLine(agent, egress),
    workspaces: workspaces.slice(-workspacesMax).map((workspace) => shortLine(workspace, egress)),
  };
}

/** A text on one line, with its end cut off where it is long. */
export function shortLine(text: string, egress: Redactor): string {
  return safeLine(egress.text(text), textCodePoints);
}

const unreadMax = 16;

/** The first of the sessions that could not be read. */
export function shortUnread(
  unread: readonly { readonly session: string; readonly message: string }[],
  egress: Redactor,
): readonly { readonly session: string; readonly reason: string }[] {
  return unread.slice(0, unreadMax).map(({ session, message }) => ({
    session: shortLine(session, egress),
    reason: shortLine(message, egress),
  }));
}

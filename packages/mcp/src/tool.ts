import { type TimeZone, TurnlogError } from '@turnlog/kernel';
import type { Search } from '@turnlog/search';
import type { Redactor, Store } from '@turnlog/store';
import { z } from 'zod';

/** What tools answer from. */
export interface ToolContext {
  readonly store: Store;
  readonly search: Search;
  /** Everything that an answer holds passes it, before anything is cut. */
  readonly egress: Redactor;
  readonly zone: TimeZone;
  /** The absolute path of a directory as it was written. */
  readonly resolvePath: (path: string) => string;
  /** The members that every document of the interface begins with. */
  readonly head: Readonly<Record<string, unknown>>;
  /** A failure as the interface tells it. */
  readonly tellError: (error: unknown) => ErrorDocument;
}

/** The envelope of a failure. */
export interface ErrorDocument {
  readonly schema_version: number;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly retryable: boolean;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

/** What a tool answers: one JSON object, in which texts of logs stand as data beside their source. */
export type ToolAnswer = Readonly<Record<string, unknown>>;

/** A tool as it is announced. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
}

export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** What a tool that only reads says of itself. */
export const reading: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

type JsonSchema = Readonly<Record<string, unknown>> & { readonly type: 'object' };

/** A tool: how it is announced, and what it does. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** @throws TURNLOG_BAD_FLAG for arguments that are none of its own, and what the tool itself refuses with. */
  call(input: unknown, context: ToolContext): Promise<ToolAnswer>;
}

interface ToolParts<Input extends z.ZodObject> extends Pick<ToolDefinition, 'name' | 'description'> {
  readonly input: Input;
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
  readonly answer: (input: z.output<Input>, context: ToolContext) => Promise<ToolAnswer>;
}

/** Makes a tool of its parts; whatever arrives is checked before the tool sees it. */
export function defineTool<Input extends z.ZodObject>(parts: ToolParts<Input>): Tool {
  const { name, description, input, output, annotations, answer } = parts;
  const inputSchema = schemaOf(input);
  const outputSchema = schemaOf(output);
  return {
    definition: { name, description, inputSchema, outputSchema, annotations },
    call: async (given, context) => await answer(checked(name, input, given ?? {}), context),
  };
}

const issuesToldMax = 8;

function checked<Input extends z.ZodObject>(tool: string, input: Input, given: unknown): z.output<Input> {
  const read = input.safeParse(given);
  if (read.success) return read.data;
  const issues = read.error.issues.slice(0, issuesToldMax).map(({ path, message }) => ({
    argument: path.map(String).join('.'),
    message,
  }));
  const [first] = issues;
  throw new TurnlogError('TURNLOG_BAD_FLAG', {
    details: { tool, issues },
    message: `${tool} does not take these arguments: ${first?.argument ?? ''} ${first?.message ?? ''}`,
  });
}

/** The schema of an object, without what costs bytes and says nothing: definitions are read by models. */
function schemaOf(schema: z.ZodObject): JsonSchema {
  const { $schema: _, ...members } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (isEmpty(jsonSchema.items)) delete jsonSchema.items;
      if (isEmpty(jsonSchema.properties)) delete jsonSchema.properties;
    },
  });
  return { ...members, type: 'object' };
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

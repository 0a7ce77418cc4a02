import { z } from 'zod';

/** Arguments that several tools have, each once. */

const leastBytes = 1_024;

/** Pages and sizes; what is asked for beyond the hard cap is as much as the cap. */
export const paging: {
  readonly cursor: z.ZodOptional<z.ZodString>;
  readonly max_bytes: z.ZodOptional<z.ZodInt>;
} = {
  cursor: z.string().optional(),
  max_bytes: z.int().min(leastBytes).optional(),
};

export const count = (most: number): z.ZodOptional<z.ZodInt> => z.int().min(1).max(most).optional();

export const seq: z.ZodOptional<z.ZodInt> = z.int().min(1).optional();

export const flag: z.ZodOptional<z.ZodBoolean> = z.boolean().optional();

/** Items are described where the tool is: definitions are read by models, and bytes of them are few. */
export const rows: z.ZodArray<z.ZodUnknown> = z.array(z.unknown());

/** What every list ends with. */
export const listEnd: {
  readonly next_cursor: z.ZodNullable<z.ZodString>;
  readonly capped: z.ZodBoolean;
} = { next_cursor: z.string().nullable(), capped: z.boolean() };

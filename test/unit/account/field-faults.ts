/** What a zod schema says of a value: what it reads, or each fault as its JSON pointer and message. */
import type { z } from "zod";

/** The value as it is read. @throws ZodError where it is refused */
export const reads = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => schema.parse(value);

/** `<JSON pointer>: <message>` of each fault; empty where the value is accepted. */
export function faults(schema: z.ZodType, value: unknown): string[] {
  const issues = schema.safeParse(value).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.map((step) => `/${String(step)}`).join("")}: ${message}`);
}

/** Whether a value is accepted. */
export const accepts = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;

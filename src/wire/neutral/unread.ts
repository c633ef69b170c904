/**
 * Members of a body that nothing here reads before they are translated: a splice leaves them to the upstream, which may take
 * more than its documentation says. The API document still shows what providers take them to be.
 */
import { z } from "zod";
import { isObject } from "./reader.ts";

/** Takes any value. @param shown what the document says of it */
export function unread(shown: z.ZodType): z.ZodUnknown {
  const { $schema: _, ...json } = z.toJSONSchema(shown, { io: "input" });
  return z.unknown().meta(json);
}

/** A message's content, as far as media must be found in it: text, a list of parts, or one part by itself. */
export const contentOf = (part: z.ZodType) =>
  z.union([z.string(), z.array(unread(part)), z.looseObject({}), z.null()]).optional();

/** Whether a message has content that {@link contentOf} takes; a schema would copy the message to find out. */
export const hasUsualContent = (message: unknown): boolean =>
  isObject(message) &&
  (typeof message.content === "string" || message.content == null || typeof message.content === "object");

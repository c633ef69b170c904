/**
 * Members of a body that nothing here reads before they are translated: a splice leaves them to the upstream, which may take
 * more than its documentation says. The API document still shows what providers take them to be.
 */
import { z } from "zod";

/** Takes any value. @param shown what the document says of it */
export function unread(shown: z.ZodType): z.ZodUnknown {
  const { $schema: _, ...json } = z.toJSONSchema(shown, { io: "input" });
  return z.unknown().meta(json);
}

/** A message's content, as far as media must be found in it: text, a list of parts, or one part by itself. */
export const contentOf = (part: z.ZodType) =>
  z.union([z.string(), z.array(unread(part)), z.looseObject({}), z.null()]).optional();

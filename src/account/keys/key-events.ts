/** Events of keys; their data is the key as the API shows it, without its secret. */
import { z } from "zod";
import { eventType } from "../../store/events/types.ts";
import { keyShape } from "../key.ts";

export const keyCreated = eventType("key.created", keyShape);
/** The new key. */
export const keyRotated = eventType(
  "key.rotated",
  keyShape.extend({ rotated_from: z.string().describe("The key that this one replaces.") }),
);
export const keyRevoked = eventType("key.revoked", keyShape);

/** Events of keys; their data is the key as the API shows it, without its secret. */
import { eventType } from "../../store/events/types.ts";
import { keyShape, rotatedKeyShape } from "../key.ts";

export const keyCreated = eventType("key.created", keyShape);
/** The new key. */
export const keyRotated = eventType("key.rotated", rotatedKeyShape.omit({ secret: true }));
export const keyRevoked = eventType("key.revoked", keyShape);

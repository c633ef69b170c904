/** Events of orgs, members, tickets and limits; the data is the resource as the API shows it. */
import { z } from "zod";
import * as field from "../base/operation/fields.ts";
import { eventType } from "../store/events/types.ts";
import { closingShape } from "./credit-left.ts";
import { limitsShape } from "./key.ts";
import { orgShape } from "./org-wire.ts";
import { memberShape } from "./person.ts";
import { ticketShape } from "./tickets/ticket.ts";

export const orgUpdated = eventType("org.updated", orgShape);
export const orgClosed = eventType(
  "org.closed",
  orgShape.extend({ closing: closingShape.describe("What becomes of its credit") }),
);
export const erasureRequested = eventType("erasure.requested", orgShape);
export const memberAdded = eventType("member.added", memberShape);
export const memberJoined = eventType("member.joined", memberShape);
export const memberRemoved = eventType("member.removed", memberShape);
export const ticketDecided = eventType("ticket.decided", ticketShape);
export const limitsChanged = eventType(
  "limits.changed",
  z.object({
    key_id: field.keyId,
    limits: limitsShape.describe("Limits of the key; what is absent is the plan's."),
  }),
);

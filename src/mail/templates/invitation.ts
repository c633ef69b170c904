/**
 * The mail that invites a person to an org. The secret of its link is made when the mail is sent and is nowhere stored but in
 * the mail: neither a waiting job nor a copy of the data folder opens an invitation.
 */
import { z } from "zod";
import { INVITATION_DAYS } from "../../account/invitations.ts";
import { ROLES } from "../../account/roles.ts";
import { link, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const invitation = mailTemplate({
  name: "invitation",
  data: z.object({
    userId: z.string(),
    orgName: z.string(),
    role: z.enum(ROLES),
    /** E-mail of who invites; empty for a key. */
    invitedBy: z.string(),
  }),
  async compose({ userId, orgName, role, invitedBy }, { address, invitationSecret }) {
    const secret = await invitationSecret(userId);
    if (secret === undefined) return undefined;
    const who = invitedBy === "" ? "You are invited" : `${invitedBy} invites you`;
    return {
      subject: `Invitation to ${orgName}`,
      parts: [
        text(`${who} to the organisation “${orgName}”, with the role “${role}”.`),
        link("Accept and sign in", `${address}/auth/login?invitation=${secret}`),
        text(`The link works once, within ${INVITATION_DAYS} days. It is for you alone: do not pass it on.`),
      ],
      why: "You get this mail because somebody of the organisation gave your address. If you do not expect it, ignore it.",
    };
  },
});

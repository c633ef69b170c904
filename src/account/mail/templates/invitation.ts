/**
 * The mail that invites a person to an org. Its link leads to the page where they accept or decline, and holds no secret: the page
 * asks whoever opens it to sign in with the address to which the mail went.
 */
import { z } from "zod";
import { INVITATION_DAYS } from "../../people/invitations.ts";
import { ROLES } from "../../roles.ts";
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
  compose({ userId, orgName, role, invitedBy }, { address, invitationId }) {
    const id = invitationId(userId);
    if (id === undefined) return undefined;
    const who = invitedBy === "" ? "You are invited" : `${invitedBy} invites you`;
    return {
      subject: `Invitation to ${orgName}`,
      parts: [
        text(`${who} to the organisation “${orgName}”, with the role “${role}”.`),
        link("Look at the invitation", `${address}/auth/invitations/${id}`),
        text(
          `Sign in there with this e-mail address, then accept or decline. You can do so for ${INVITATION_DAYS} days; until you accept, you are no member.`,
        ),
      ],
      why: "You get this mail because somebody of the organisation gave your address. If you do not expect it, ignore it.",
    };
  },
});

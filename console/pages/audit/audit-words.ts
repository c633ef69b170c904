/** What the audit says, in words: who did what to what. An act of a later release is said as the API calls it. Pure. */
import type { Operations } from "../../api/operations.ts";

export type Entry = Operations["listAudit"]["answer"]["data"][number];
type ActorKind = Entry["actor"]["kind"];

/** What was done, to be followed by what it was done to; `…` stands where that is said in between. */
const ACTS: Readonly<Record<string, string>> = {
  "key.create": "made the key",
  "key.update": "changed the key",
  "key.rotate": "made a key in the place of another:",
  "key.revoke": "revoked the key",
  "key.raise_limit": "raised the limits of the key",
  "playground.key": "opened the playground, with the key",
  "provider_key.create": "added the provider key",
  "provider_key.delete": "deleted the provider key",
  "app.create": "registered the app",
  "app.update": "changed the app",
  "app.delete": "deleted the app",
  "webhook.create": "made the webhook",
  "webhook.update": "changed the webhook",
  "webhook.delete": "deleted the webhook",
  "webhook.rotate": "replaced the secret of the webhook",
  "webhook.test": "sent a test to the webhook",
  "webhook.redeliver": "sent a delivery again to the webhook",
  "webhook.disable": "paused the webhook",
  "policy.create": "made the policy",
  "policy.add_version": "wrote a version of the policy",
  "policy.activate": "put into force the policy",
  "policy.deactivate": "put out of force the policy",
  "project.create": "made the project",
  "project.update": "changed the project",
  "project.delete": "deleted the project",
  "member.add": "invited",
  "member.invite_again": "sent the invitation again to",
  "member.update": "changed the role of",
  "member.remove": "removed the member or invitation",
  "member.join": "joined as",
  "member.decline": "declined the invitation of",
  "member.first_owner": "became the first owner:",
  "session.link": "signed in by a link of a start, as",
  "org.create": "made the organisation",
  "org.update": "changed the organisation",
  "org.close": "closed the organisation",
  "org.request_erasure": "asked for the erasure of the organisation",
  "org.cancel_erasure": "took back the erasure of the organisation",
  "org.erase": "erased the organisation",
  "org.transfer": "handed over the organisation",
  "org.export": "asked for an export",
  "org.suspend": "suspended the organisation",
  "org.resume": "resumed the organisation",
  "ticket.create": "asked, in the ticket",
  "ticket.decide": "decided the ticket",
  "topup.create": "began the top-up",
  "refund.create": "asked for the refund",
  "invoice.resend": "sent again the invoice",
  "mandate.create": "began the mandate",
  "mandate.cancel": "cancelled the mandate",
  "auto_topup.set": "changed automatic top-ups of",
  "subscription.change": "changed the plan of",
  "payment.record": "recorded the payment",
  "payment.close": "closed the payment",
  "credits.grant": "granted credit to",
  "credits.adjustment": "adjusted the credit of",
  "scim_token.create": "made the directory's token",
  "scim_token.rotate": "replaced the directory's token",
  "scim_token.revoke": "revoked the directory's token",
  "scim_user.create": "added the directory's user",
  "scim_user.update": "changed the directory's user",
  "scim_user.delete": "deleted the directory's user",
  "scim_group.create": "added the directory's group",
  "scim_group.update": "changed the directory's group",
  "scim_group.delete": "deleted the directory's group",
  "analytics_user.create": "gave access to the analytics database:",
  "analytics_user.delete": "ended an access to the analytics database:",
  "job.retry": "tried again the job",
  "job.drop": "gave up the job",
};

export const actWords = (act: string): string =>
  Object.hasOwn(ACTS, act) ? (ACTS[act] ?? act) : `did “${act.replaceAll("_", " ")}” to`;

/** What is of this kind, as one chooses it; the value is that of the filter of the API. */
export const ACT_OPTIONS: readonly (readonly [value: string, text: string])[] = [
  ["", "Anything"],
  ["key.*", "Keys"],
  ["playground.*", "The playground"],
  ["provider_key.*", "Provider keys"],
  ["member.*", "Members"],
  ["org.*", "The organisation"],
  ["project.*", "Projects"],
  ["policy.*", "Policies"],
  ["app.*", "Apps"],
  ["webhook.*", "Webhooks"],
  ["ticket.*", "Tickets"],
  ["topup.*", "Top-ups"],
  ["refund.*", "Refunds"],
  ["payment.*", "Payments of the operator"],
  ["credits.*", "Credit of the operator"],
  ["auto_topup.*", "Automatic top-ups"],
  ["mandate.*", "Mandates"],
  ["subscription.*", "The plan"],
  ["invoice.*", "Invoices"],
  ["session.*", "Sign-ins by link"],
  ["scim_token.*", "The directory's token"],
  ["scim_user.*", "The directory's users"],
  ["scim_group.*", "The directory's groups"],
  ["analytics_user.*", "The analytics database"],
];

const ACTORS: Readonly<Record<ActorKind, string>> = {
  person: "A person",
  key: "A key",
  directory: "The directory",
  operator: "The operator",
  system: "Weir itself",
  nobody: "Somebody without a key",
};

/** Who did it, where no better name is known. */
export const actorWords = (kind: ActorKind): string => ACTORS[kind];

export const isActorKind = (text: string): text is ActorKind => Object.hasOwn(ACTORS, text);

export const ACTOR_OPTIONS: readonly (readonly [value: string, text: string])[] = [
  ["", "Anybody"],
  ["person", "People"],
  ["key", "Keys"],
  ["operator", "The operator"],
  ["directory", "The directory"],
  ["system", "Weir itself"],
  ["nobody", "Somebody without a key"],
];

/** What the thing is that was acted on: the first part of the act. */
export const kindOf = (act: string): string => act.slice(0, act.indexOf("."));

/** Whether what was acted on is gone since: nothing leads there. A revoked key is still shown. */
export const isGone = (act: string): boolean => act.endsWith(".delete") || act === "member.remove";

/** What is new has no values before. */
export const isNew = ({ changes }: Pick<Entry, "changes">): boolean =>
  changes.length > 0 && changes.every(({ before }) => before === undefined);

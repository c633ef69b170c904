/**
 * Descriptions of the fields of orgs, members, tickets, events, the audit and sign-in for the API reference. See
 * `field-descriptions.ts` for the look-up. What belongs to a shape of `src/account` and bears a name that means something
 * else elsewhere (`id`, `role`, `zdr`) is described at its schema there, so that the shape keeps it in events too.
 */
export const ACCOUNT_FIELD_DESCRIPTIONS: Readonly<Record<string, string>> = {
  // Organisations: the profile.
  billing_country:
    "ISO 3166-1 alpha-2, such as `IN`. It decides the currency, which no longer changes after the first top-up.",
  billing_currency: "What top-ups and invoices are in: `INR` where the billing country is `IN`, else `USD`.",
  legal_name: "As registered, for invoices; empty where not given.",
  tax_id:
    "Tax number of a buyer outside India, printed on invoices; in the European Union a VAT number. Empty for none.",
  gstin: "Number of the taxpayer under India's GST, 15 characters; empty for none.",
  tax_status:
    "In India `unregistered`, or with a GSTIN `gst_registered` or `sez` (in a special economic zone); elsewhere `overseas`.",
  plan_id: "The plan that sets limits of keys and projects.",
  billing_email: "Where invoices go; empty for nowhere.",
  billing_address: "For invoices. What is not given is empty.",
  line1: "Street and house.",
  city: "City, town or village of the address.",
  state_code:
    "India: the GST state code of two digits, such as 29. US, Canada, Australia: the post's letters. Elsewhere: any text.",
  postal_code: "As the country's post writes it; in India the PIN code of six digits.",
  "billing_address.country": "ISO 3166-1 alpha-2; the same as `billing_country`.",
  // Organisations: settings and data policy.
  settings: "What holds for the whole org.",
  security: "Conditions of console sessions, and how long new keys last.",
  require_2fa:
    "True: a session opens the org only if the person signed in with a second factor. Keys are not asked.",
  session_hours: "So many hours after sign-in a session no longer opens the org; 1 to 720.",
  console_ip_allow:
    "IP addresses and CIDR ranges from which sessions open the org, 64 at most; empty: from anywhere. Keys are not asked.",
  key_default_expiry_days: "So many days a key works that is made without `expires_in`; 0: without end.",
  timezone: "IANA zone, such as `Asia/Kolkata`, by whose midnight days and months of budgets begin.",
  credits_low_micro:
    "Micro-USD; event `credits.low` and a mail when the balance falls below. Absent, or null in a request: neither.",
  "settings.budget":
    "What all calls of the org may cost in a local month; `GET /v1/limits` has what they have cost. Absent: it was never set.",
  spike_alert_pct:
    "By more than so many percent a day's spend must exceed the mean of those of the seven days before that had any, three at least, for event `spend.spike` and a mail, once a day. Absent, or null in a request: no alert.",
  logging:
    "`on`: record and payloads of calls are kept; `metadata`: the record only; `off`: the record only, and payloads never leave memory.",
  redact: "What is cut out of payloads before they are kept.",
  presets: "Kinds of data that the gateway finds by itself; each is replaced by `[REDACTED:<preset>]`.",
  patterns: "RE2 expressions, 20 at most; what one matches is replaced by `[REDACTED:pattern]`.",
  // Organisations: their end.
  closed_at: "When it was closed; ISO 8601, UTC. Absent: it is not closed.",
  erasure_requested_at: "When erasure was asked for; ISO 8601, UTC. Absent: no erasure is pending.",
  erasure_due_at:
    "When the data is erased, and until when this can be cancelled; ISO 8601, UTC. Absent: no erasure is pending.",
  owner: "Id of the person who owns the org now.",
  previous_owner_role:
    "What the previous owner is now: `admin`; `owner` if the org was handed to themselves.",
  "transferOrg/user_id": "Id of a member who has signed in: the next owner.",
  // Members.
  "Organisations/role": "What the person may do in the org.",
  "Organisations/user": "The member's id, `usr_…`.",
  "updateMember/user_id": "The member's id.",
  revoke_keys:
    "`true`: keys that the person made, or keys of theirs, are revoked in the same act. Default: they keep working.",
  // Tickets and requests for higher limits.
  "Tickets/id": "The ticket's id.",
  "listTickets/kind": "Only tickets of this kind.",
  subject: "What it is about, in one line of 200 characters at most.",
  "createTicket/message":
    "What is asked for, 10,000 characters at most; the ticket has it in `body.message`.",
  answer: "What was decided, in words; absent while the ticket is open.",
  decided_at: "When it was decided; ISO 8601, UTC. Absent while the ticket is open.",
  "requestLimits/reason": "What for, 2,000 characters at most; who decides reads it.",
  ticket: "What the request became: decided already, or open.",
  // Events and the audit.
  "listEvents/type": "What happened, such as `key.created`. As a filter: only events of this type.",
  "Events/id": "The row's id; ids sort by time.",
  "listAudit/since": "Rows of this instant and later; ISO 8601 with its offset.",
  "listAudit/until": "Rows before this instant; ISO 8601 with its offset.",
  actor: "Who did it.",
  "actor.kind":
    "`key`, `person`, `directory` (the org's directory), `operator`, `system` (work without a request) or `nobody`.",
  "actor.id":
    "Id of the key, the person, …; `operator-key` where the operator's secret was used, `anyone` where a key was reported.",
  act: "Resource and verb, such as `key.update`.",
  target: "Id of what was changed.",
  changes: "Fields of the resource that differ.",
  field: "A field of the resource, as the API calls it.",
  before:
    "Value before; absent where there was none. Only the length is told of a value over 2,000 characters of JSON.",
  after:
    "Value after; absent where there is none. Only the length is told of a value over 2,000 characters of JSON.",
  "listAudit/reason":
    "Why: what the actor said, or the id of the ticket that granted the change; empty where nothing was said.",
  ip_prefix: "The client's network: /24 of IPv4, /48 of IPv6; empty for work without a request.",
  // Sign-in and sessions.
  "Sign-in/user": "Who is signed in.",
  "Sign-in/role": "What the person may do in the active org; null without one.",
  "Sign-in/id": "The session's id.",
  orgs: "The person's orgs, oldest membership first; in short where the session does not open one.",
  active_org:
    "Id of the org that this session's requests are about, unless `svc-org` names another; null: the person is in none.",
  session: "The session that asks.",
  ends_at:
    "When it ends for good; ISO 8601, UTC. For an org it ends `session_hours` after sign-in, which may be earlier.",
  login_hint: "E-mail address for the identity provider's page to propose.",
  "beginLogin/prompt":
    "Passed on to the identity provider. `login`: ask again who it is; `select_account`: let the person choose; `none`: ask nothing, or fail.",
  "finishLogin/state": "What `/auth/login` sent along, unchanged: the answer belongs to that sign-in.",
  "finishLogin/code": "What the gateway exchanges for the person's identity, once.",
  "finishLogin/error":
    "Why the identity provider refuses, as an error code of OAuth 2.0; absent when it does not.",
  logout_url:
    "Send the browser there: it ends the session at the identity provider and comes back to `/auth/login`.",

  // What operators see.
  balance_micro_usd: "The org's balance after this, micro-USD.",
  "operatorGetOrg/balance_micro_usd": "The org's balance, micro-USD; held credit included.",
  "operatorGetOrg/members": "How many people belong to the org, invited ones included.",
  "operatorSuspendOrg/balance_micro_usd": "The org's balance, micro-USD; held credit included.",
  "operatorSuspendOrg/members": "How many people belong to the org, invited ones included.",
  "operatorResumeOrg/balance_micro_usd": "The org's balance, micro-USD; held credit included.",
  "operatorResumeOrg/members": "How many people belong to the org, invited ones included.",
  "operatorGrant/kind": "Kind of the ledger entry.",
  "operatorAdjust/kind": "Kind of the ledger entry.",
  "operatorListOrgs/status": "Only orgs of this status.",
  "operatorListTickets/kind": "Only tickets of this kind.",
  "operatorDecideTicket/status":
    "`approved` grants what is asked for, `rejected` refuses it, `closed` ends it otherwise.",
  "operatorListJobs/kind": "Room and verb, such as `mail.send`.",
  "operatorListJobs/key": "Identifies the job among those of its kind; the same over all tries.",
  "operatorRetryJob/kind": "Room and verb, such as `mail.send`.",
  "operatorRetryJob/key": "Identifies the job among those of its kind.",
  "operatorRetryJob/status": "The job waits for its next try, which is due now.",
  "operatorDropJob/kind": "Room and verb, such as `mail.send`.",
  "operatorDropJob/key": "Identifies the job among those of its kind.",
  tries: "How often it was tried before it was given up.",
  given_up_at: "When its last try had failed; ISO 8601, UTC.",

  // Redaction.
  sample: "A text to try the rules on; at most 32 KB.",
  redactions: "How many spans were replaced.",
};

/**
 * Meanings of an org's fields, for the API description. Requests, answers and events have the same fields with different bounds, so
 * the text of each is written once, here.
 */
export const ORG_MEANINGS = {
  slug: "Short name, unique in the installation; stands wherever the org's id may.",
  name: "Display name.",
  kind: "A label for people; nothing depends on it.",
  retentionDays: "So many days payloads of calls are kept, and stored responses (30 at most); 0: not at all.",
  zdr: "True: only endpoints that keep nothing are asked, and nothing of a call's text is kept here.",
  noTrain: "True: only endpoints that do not train on prompts are asked.",
  regions: "Only endpoints in these regions, such as `eu-central-1`, are asked; empty: in any.",
  billingCountry:
    "ISO 3166-1 alpha-2, such as `IN`. It decides the currency, which no longer changes after the first top-up.",
  legalName: "As registered, for invoices; empty where not given.",
  gstin: "Number of the taxpayer under India's GST, 15 characters; empty for none.",
  taxId:
    "Tax number of a buyer outside India, printed on invoices; in the European Union a VAT number. Empty for none.",
  taxStatus:
    "In India `unregistered`, or with a GSTIN `gst_registered` or `sez` (in a special economic zone); elsewhere `overseas`.",
  billingEmail: "Where invoices go; empty for nowhere.",
  billingAddress: "For invoices. What is not given is empty.",
  line1: "Street and house.",
  city: "City, town or village of the address.",
  stateCode:
    "India: the GST state code of two digits, such as 29. US, Canada, Australia: the post's letters. Elsewhere: any text.",
  postalCode: "As the country's post writes it; in India the PIN code of six digits.",
  addressCountry: "ISO 3166-1 alpha-2; the same as `billing_country`.",
  settings: "What holds for the whole org.",
  security: "Conditions of console sessions, and how long new keys last.",
  require2fa:
    "True: a session opens the org only if the person signed in with a second factor. Keys are not asked.",
  sessionHours: "So many hours after sign-in a session no longer opens the org; 1 to 720.",
  consoleIpAllow:
    "IP addresses and CIDR ranges from which sessions open the org, 64 at most; empty: from anywhere. Keys are not asked.",
  keyDefaultExpiryDays: "So many days a key works that is made without `expires_in`; 0: without end.",
  timezone: "IANA zone, such as `Asia/Kolkata`, by whose midnight days and months of budgets begin.",
  creditsLowMicro:
    "Micro-USD; event `credits.low` and a mail when the balance falls below. Absent, or null in a request: neither.",
  budget:
    "What all calls of the org may cost in a local month; `GET /v1/limits` has what they have cost. Absent: it was never set.",
  spikeAlertPct:
    "By more than so many percent a day's spend must exceed the mean of those of the seven days before that had any, three at least, for event `spend.spike` and a mail, once a day. Absent, or null in a request: no alert.",
  dataPolicy: "How data is treated.",
  logging:
    "`on`: record and payloads of calls are kept; `metadata`: the record only; `off`: the record only, and payloads never leave memory.",
  redact: "What is cut out of payloads before they are kept.",
  presets: "Kinds of data that the gateway finds by itself; each is replaced by `[REDACTED:<preset>]`.",
  patterns: "RE2 expressions, 20 at most; what one matches is replaced by `[REDACTED:pattern]`.",
} as const;

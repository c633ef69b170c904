/**
 * What an org's fields mean whose names mean something else elsewhere in the API (`zdr` of a call, `slug` of a project): one
 * text for requests, answers and events. Names with one meaning are in `edge/openapi/account-field-descriptions.ts`.
 */
export const ORG_MEANINGS = {
  slug: "Short name, unique in the installation; stands wherever the org's id may.",
  name: "Display name.",
  kind: "A label for people; nothing depends on it.",
  retentionDays: "So many days payloads of calls are kept, and stored responses (30 at most); 0: not at all.",
  zdr: "True: only endpoints that keep nothing are asked, and nothing of a call's text is kept here.",
  noTrain: "True: only endpoints that do not train on prompts are asked.",
  regions: "Only endpoints in these regions, such as `eu-central-1`, are asked; empty: in any.",
} as const;

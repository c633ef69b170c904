/**
 * Ids of the gateway's own accounts, as providers quote them: in a provider's own form, or behind the word for their kind. Words of
 * lower-case letters only ("user_messages") are not ids unless they are as long as ids.
 */

const GUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}";

const ACCOUNTS: readonly RegExp[] = [
  /\b[\w.-]{1,64}@[\w-]{1,64}\.(?:iam|developer)\.gserviceaccount\.com\b/g,
  // Who signed in, as a message quotes it; an address to write to stands behind other words.
  /(?<=\b(?:user|account|principal|member|login|identity)[ :='"`(]{1,3})[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}/gi,
  /\b(?:org|proj|user|acct|team)[-_](?=[a-z]{0,24}[A-Z\d]|[a-z]{20})[A-Za-z0-9]{8,}/g,
  /\barn:aws[a-z-]{0,16}:[^\s"'`]{1,256}/g,
  /\b(?:wrkspc_|ws_)(?=[A-Za-z]{0,24}\d)[A-Za-z\d]{10,}/g,
  // Fireworks; its own models are below an account of its name.
  /(?<=\baccounts\/)(?!fireworks\b)[a-z\d-]{2,64}(?=\/)/g,
  /\bA(?:ROA|IDA|IPA|NPA|GPA|CCA|BIA)[A-Z\d]{12,}/g,
  /\bprojects\/[a-z0-9-]{1,64}/g,
  /(?<=[?&]project=)[a-z0-9-]{1,64}/g,
  new RegExp(`/?\\b(?:subscriptions|tenants)/${GUID}(?:/resourceGroups/[^\\s"'\`<>]{1,300})?`, "gi"),
  /(?<=\bresourceGroups?[/ :='"`]{1,3})[\w.()-]{1,90}/g,
  /(?<=\bAccountName=)[a-z\d]{3,24}/gi,
  /\b(?<=(?:organi[sz]ation|org|team|project|account|workspace|tenant|subscription|project_number|consumer)s?(?:[ _-]?id| number)?[ :='"`(]{1,3})(?=[\w-]*\d)[A-Za-z0-9][\w-]{5,63}/gi,
  // Names of accounts that may be any word: Ollama's (diegosouzapw/OmniRoute#3709), and Fireworks's (pollinations/pollinations#12136).
  /(?<=\byou \()[\w.@+-]{1,64}(?=\) have reached )/gi,
  /(?<=\baccount )[\w.-]{1,64}(?= is suspended\b)/gi,
  // xAI quotes the id of the key (UKGovernmentBEIS/inspect_ai#2267), LiteLLM its hash.
  /(?<=\bkey[ _](?:id|hash)(?: \(token\))?[ :='"`(]{1,3})(?=[\w-]*\d)[A-Za-z\d][\w-]{5,63}/gi,
];

/** Removes ids of the gateway's accounts from a provider's message. */
export function withoutAccounts(message: string): string {
  let text = message;
  for (const accounts of ACCOUNTS) text = text.replaceAll(accounts, "[account]");
  return text;
}

/** A credential as people give it: one text, a pair of AWS keys, or the key file of a Google service account. Pure. */
import type { Operations } from "../../api/operations.ts";

type Body = NonNullable<Operations["createProviderKey"]["body"]>;
export type Credential = Body["credential"];

export const KINDS = ["text", "aws", "google"] as const;
export type Kind = (typeof KINDS)[number];

export interface CredentialValues {
  readonly kind: Kind;
  readonly text: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** JSON, as it was downloaded. */
  readonly file: string;
}

export const NO_CREDENTIAL: CredentialValues = {
  kind: "text",
  text: "",
  accessKeyId: "",
  secretAccessKey: "",
  sessionToken: "",
  file: "",
};

/** What a provider usually takes, by its id. */
export function usualKind(provider: string): Kind {
  if (/vertex/.test(provider)) return "google";
  return /bedrock|aws|amazon/.test(provider) ? "aws" : "text";
}

/** What is sent. @returns undefined where something is missing or the file is no JSON */
export function credentialOf(values: CredentialValues): Credential | undefined {
  switch (values.kind) {
    case "text":
      return values.text.trim() === "" ? undefined : values.text.trim();
    case "aws":
      return awsKeys(values);
    case "google":
      return fileIn(values.file);
  }
}

function awsKeys(values: CredentialValues): Credential | undefined {
  const [id, secret, token] = [values.accessKeyId, values.secretAccessKey, values.sessionToken].map((each) =>
    each.trim(),
  );
  if (!id || !secret) return undefined;
  return { access_key_id: id, secret_access_key: secret, ...(token && { session_token: token }) };
}

function fileIn(text: string): Credential | undefined {
  try {
    const file: unknown = JSON.parse(text);
    return typeof file === "object" && file !== null && !Array.isArray(file)
      ? (file as Credential)
      : undefined;
  } catch {
    return undefined;
  }
}

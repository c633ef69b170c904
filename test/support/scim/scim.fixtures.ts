/** The directory of an org, as an identity provider drives it over HTTP. */

import type { SignedInPerson } from "../console.fixtures.ts";
import type { Answer } from "../gateway.ts";
import { httpCall } from "../http-client.ts";
import { assertPublished } from "./scim.published.fixtures.ts";

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
}

export interface Directory {
  readonly token: string;
  /**
   * @param path below `/scim/v2`
   * @throws Error if the answer is not as `/openapi.json` says
   */
  call(method: string, path: string, sent?: Sent): Promise<Answer>;
}

/** Makes the token of the person's org. @param org slug; undefined: the person's active org */
export async function directoryOf(url: string, admin: SignedInPerson, org?: string): Promise<Directory> {
  const made = await admin.call("POST", "/v1/org/scim/token", org === undefined ? {} : { org });
  if (made.status !== 201) throw new Error(made.text);
  return directoryAt(url, made.json.token);
}

export function directoryAt(url: string, token: string): Directory {
  return {
    token,
    async call(method, path, { body, headers = {}, token: other = token } = {}) {
      const answer = await httpCall(method, `${url}/scim/v2${path}`, {
        headers: {
          ...(body !== undefined && { "content-type": "application/scim+json" }),
          ...(other !== "" && { authorization: `Bearer ${other}` }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      if (answer === undefined) throw new Error(`${method} ${path} was not answered`);
      const told = { ...answer, json: answer.text === "" ? undefined : JSON.parse(answer.text) };
      await assertPublished(url, method, path, told);
      return told;
    },
  };
}

export const CORE_USER = "urn:ietf:params:scim:schemas:core:2.0:User";
export const CORE_GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

export const eq = (name: string, value: string): string =>
  `filter=${encodeURIComponent(`${name} eq "${value}"`)}`;

/** The org's member with an address; undefined for none. */
export async function memberOf(admin: SignedInPerson, email: string, org = "first") {
  const { data } = (await admin.call("GET", `/v1/orgs/${org}/members`, { org })).json;
  return data.find((row: { email: string }) => row.email === email);
}

/** What a failure says, in the shape of SCIM. */
export const scimError = ({ status, json }: Answer) => [status, json.status, json.scimType];

export const patch = (...operations: object[]) => ({ schemas: [PATCH_OP], Operations: operations });

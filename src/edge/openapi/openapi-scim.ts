/** Errors of the routes of SCIM in the OpenAPI document: their shape (RFC 7644 section 3.12), and what each status means there. */
import { z } from "zod";
import { ERROR_SCHEMA, SCIM_TYPES, type ScimErrorBody } from "../../account/scim/error.ts";

const exampleWith = (
  status: string,
  detail: string,
  scimType?: ScimErrorBody["scimType"],
): ScimErrorBody => ({
  schemas: [ERROR_SCHEMA],
  status,
  ...(scimType !== undefined && { scimType }),
  detail,
});

interface Meaning {
  readonly description: string;
  readonly example: ScimErrorBody;
}

const TOLD = SCIM_TYPES.filter((type) => type !== "uniqueness").map((type) => `\`${type}\``);

/** By status. */
export const SCIM_MEANINGS: Readonly<Record<number, Meaning>> = {
  400: {
    description: `\`scimType\` says what is wrong with the request: ${TOLD.join(", ")}.`,
    example: exampleWith("400", "userName is required.", "invalidValue"),
  },
  401: {
    description: "The token is missing, unknown, replaced or revoked.",
    example: exampleWith("401", "This is no working token of a directory."),
  },
  403: {
    description:
      "The organisation is closed or suspended, its plan has no directory provisioning, or the directory is full.",
    example: exampleWith("403", "The organisation is closed."),
  },
  404: {
    description: "There is no such resource in this directory.",
    example: exampleWith("404", "There is no such user."),
  },
  409: {
    description:
      "With the `scimType` `uniqueness` another user has the name or the address; without one the resource must not change so now.",
    example: exampleWith("409", "Another user of the directory has this userName.", "uniqueness"),
  },
  412: {
    description: "The resource has changed since the entity tag of `If-Match`.",
    example: exampleWith("412", "The user has changed since."),
  },
  413: { description: "The body is too large.", example: exampleWith("413", "The body is too large.") },
  415: {
    description: "The body is in a media type or an encoding that is not supported.",
    example: exampleWith("415", "The body must be JSON."),
  },
  429: {
    description: "The directory asks too often. Retry-After says how long to wait.",
    example: exampleWith(
      "429",
      "A directory may send 3000 reads of the control plane a minute: wait retry_after_ms.",
    ),
  },
  500: { description: "The gateway failed.", example: exampleWith("500", "Internal error.") },
};

export const SCIM_ERROR_SHAPE = z
  .strictObject({
    schemas: z.array(z.literal(ERROR_SCHEMA)).min(1).max(1).describe("URN of the message."),
    status: z
      .string()
      .regex(/^[45][0-9][0-9]$/)
      .describe("The HTTP status, as text."),
    scimType: z.enum(SCIM_TYPES).optional().describe("What went wrong, for a program; only with 400 and 409"),
    detail: z.string().describe("What went wrong, for a person. It holds no secret."),
  })
  .describe("An error as directories read it: RFC 7644 section 3.12.");

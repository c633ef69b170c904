/** `cors` of `weir.yaml`: the origins whose pages may call the gateway with a key. */
import { z } from "zod";
import { ANY_ORIGIN } from "./cors.ts";

const MOST_ORIGINS = 256;
const MOST_CHARACTERS = 300;

/**
 * As browsers write it: a scheme and a host, names in punycode, with a port only where it is not the scheme's. Apps have schemes of their
 * own.
 */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:[\w-]+(?:\.[\w-]+)*\.?|\[[0-9a-f:.]+\])(?::\d+)?$/;
/** Schemes that URLs know, and from which no page has an origin of its own (https://url.spec.whatwg.org/#origin). */
const NEVER: ReadonlySet<string> = new Set(["file:", "ftp:", "ws:", "wss:"]);

const origin = z
  .string()
  .max(MOST_CHARACTERS)
  .superRefine((text, ctx) => {
    const fault = faultOf(text);
    if (fault !== undefined) ctx.addIssue({ code: "custom", message: fault });
  });

function faultOf(text: string): string | undefined {
  if (text === ANY_ORIGIN) return undefined;
  if (text === "null") return 'any sandboxed page has the origin "null": it cannot be allowed';
  if (text.includes("*")) return 'is no origin: patterns are not offered, only exact origins, or "*" for all';
  const written = URL.canParse(text) ? new URL(text) : undefined;
  if (written === undefined || written.host === "") return NO_ORIGIN;
  if (NEVER.has(written.protocol))
    return `no page has an origin of the scheme ${written.protocol.slice(0, -1)}`;
  const isWeb = written.protocol === "https:" || written.protocol === "http:";
  const asSent = `${written.protocol}//${written.host}`;
  if (isWeb && asSent !== text) return `is no origin as browsers send it: write ${asSent}`;
  return asSent === text && ORIGIN.test(text) ? undefined : NO_ORIGIN;
}

/** YAML has a text, `true` or nothing where somebody left the brackets out. */
const NO_LIST = 'must be a list, such as ["https://app.example.com"]; ["*"] is every origin, [] none';
const NO_ORIGIN = "is no origin: write a scheme and a host, as https://app.example.com";

/** Absent: every origin. An empty list: none. */
export const corsField = z
  .strictObject({
    origins: z
      .array(origin, NO_LIST)
      .max(MOST_ORIGINS, `has more than ${MOST_ORIGINS} origins`)
      .refine(
        (list) => list.length < 2 || !list.includes(ANY_ORIGIN),
        '"*" means all: no other origin stands beside it',
      )
      .default([ANY_ORIGIN]),
  })
  .prefault({});

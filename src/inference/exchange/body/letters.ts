/**
 * What is sent in one attempt: body and headers, for each credential that it may be sent with. Which one is used is known only
 * when a key is taken; on the platform's, what the endpoint has no price for is left out.
 */
import type { Endpoint } from "../../../base/endpoint.ts";
import { fail, type WeirError } from "../../../base/errors.ts";
import { after, type MaybePromise } from "../../../base/maybe-promise.ts";
import { GENERATION_DIALECTS } from "../../../wire/dialects.ts";
import { featuresIn, siftedFeatures } from "../../../wire/extras/features.ts";
import { NOTHING_SENT } from "../../../wire/extras/sent.ts";
import type { Billed } from "../../../wire/extras/sift.ts";
import type { Outgoing } from "../../../wire/format.ts";
import type { Passable } from "../../../wire/passages.ts";
import type { Call, ReadCall } from "../call.ts";
import { requestAt } from "../reservation/fit.ts";
import type { Bodies } from "./bodies.ts";

export interface Letter extends Outgoing {
  /** The client's, which are meant for an upstream of its own dialect. */
  readonly headers: Readonly<Record<string, string>>;
}

export type Letters = Readonly<Record<Billed, Letter>>;

export const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** The bodies of an attempt: one for both credentials, unless what is sent depends on the credential. */
export type Written = Outgoing | Readonly<Record<Billed, Outgoing>>;

/** @throws WeirError 400 if the request cannot be written for the endpoint */
export function writeBodies(
  bodies: Pick<Bodies, "write">,
  call: ReadCall,
  passable: Passable,
  endpoint: Endpoint,
): MaybePromise<Written> {
  const request = withAskedFeatures(requestAt(call, endpoint), call, passable);
  const to = { passable, request, endpoint };
  const platform = write(bodies, call, to, "platform");
  return mayDiffer(call, request, passable, endpoint) ? withOrgs(bodies, call, to, platform) : platform;
}

interface WrittenTo {
  readonly passable: Passable;
  readonly request: ReadCall["request"];
  readonly endpoint: Endpoint;
}

const write = (
  bodies: Pick<Bodies, "write">,
  { incoming: { format, key } }: ReadCall,
  { passable, request, endpoint }: WrittenTo,
  billed: Billed,
): MaybePromise<Outgoing> => bodies.write(format, passable, request, endpoint, { orgId: key.orgId, billed });

/** The body for the platform's credential, and then the one for the org's. */
const withOrgs = (
  bodies: Pick<Bodies, "write">,
  call: ReadCall,
  to: WrittenTo,
  platform: MaybePromise<Outgoing>,
): MaybePromise<Written> =>
  after(platform, (one) => after(write(bodies, call, to, "org"), (other) => ({ platform: one, org: other })));

/** The request with what its client asks for in a header, where the dialect has that in its body. */
function withAskedFeatures(
  request: ReadCall["request"],
  { incoming: { format, passing } }: ReadCall,
  { isSplice, dialect }: Passable,
): ReadCall["request"] {
  if (isSplice || GENERATION_DIALECTS.get(dialect)?.features === undefined) return request;
  const { featuresHeader: header } = format.habits;
  const value = header && passing[header];
  return value === undefined || header === undefined
    ? request
    : { ...request, features: { header, names: featuresIn(value) } };
}

/** The bodies with their headers. */
export function lettersOf(written: Written, call: Call, passable: Passable, endpoint: Endpoint): Letters {
  const headers = headersOf(call, passable, endpoint, "platform");
  if ("parts" in written) {
    const one = letterOf(written, headers);
    return { platform: one, org: one };
  }
  return {
    platform: letterOf(written.platform, headers),
    org: letterOf(written.org, headersOf(call, passable, endpoint, "org")),
  };
}

/** Whether an own key may be used, and what is sent depends on that. */
function mayDiffer(
  { ownKeys, incoming }: ReadCall,
  request: ReadCall["request"],
  { isSplice }: Passable,
  { provider }: Endpoint,
): boolean {
  if (ownKeys === undefined || ownKeys.of(provider.id).length === 0) return false;
  const hasHeaders = (isSplice || request.features !== undefined) && Object.keys(incoming.passing).length > 0;
  const hasOptions = Object.hasOwn(request.svc.providerOptions, provider.id);
  return request.extras.asks.length > 0 || hasOptions || hasHeaders;
}

interface Headers {
  readonly headers: Letter["headers"];
  /** Features that are left out for want of a price. */
  readonly unpriced: readonly string[];
  /** Name of the header that they were in. */
  readonly name: string;
}

const NO_FEATURES: readonly string[] = Object.freeze([]);
const WITHOUT_HEADERS: Headers = { headers: NO_HEADERS, unpriced: NO_FEATURES, name: "" };

/** The client's headers as they are sent with a credential. */
function headersOf(
  { incoming }: Call,
  { isSplice }: Pick<Passable, "isSplice">,
  { prices }: Endpoint,
  billed: Billed,
): Headers {
  const name = incoming.format.habits.featuresHeader;
  const { passing } = incoming;
  if (!isSplice) return WITHOUT_HEADERS;
  const value = name === undefined ? undefined : passing[name];
  if (name === undefined || value === undefined || billed === "org")
    return { headers: passing, unpriced: NO_FEATURES, name: "" };
  const { kept, unpriced } = siftedFeatures(name, value, prices);
  if (unpriced.length === 0) return { headers: passing, unpriced, name };
  const { [name]: _, ...others } = passing;
  return { headers: kept === "" ? others : { ...others, [name]: kept }, unpriced, name };
}

function letterOf(outgoing: Outgoing, { headers, unpriced, name }: Headers): Letter {
  const { parts, dropped, droppedMore, extras = NOTHING_SENT, ownTools } = outgoing;
  if (unpriced.length === 0) return { parts, dropped, droppedMore, extras, ownTools, headers };
  return {
    parts,
    droppedMore,
    ownTools,
    dropped: [...dropped, ...unpriced.map((feature) => `${name}: ${feature}`)],
    extras: { ...extras, unpriced: [...extras.unpriced, ...unpriced] },
    headers,
  };
}

/** Why a letter must not be sent to the endpoint of a request that forbids leaving anything out; undefined if it may be. */
export function strictFault(
  { dropped, extras = NOTHING_SENT }: Outgoing,
  endpoint: Endpoint,
): WeirError | undefined {
  const [first] = dropped;
  if (first === undefined) return undefined;
  const [unpriced] = extras.unpriced;
  const why =
    unpriced === undefined
      ? `${first} cannot be told to ${endpoint.id}`
      : `${first} (${unpriced}) has no price at ${endpoint.id}, so it is not sent with the gateway's credential`;
  const message = `${why}, and svc.compat.strict is set.`;
  return fail("capability_not_supported", message, {
    param: first,
    details: { dropped: dropped.slice(0, MOST_LISTED) },
  });
}

/** As many as the warnings of an answer name. */
const MOST_LISTED = 100;

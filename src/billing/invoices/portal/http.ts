/**
 * A portal over HTTP, in the shapes of the government's API ("eInvoice Core API", version 1.03) without its encryption: the
 * simulated portal, or a service provider on a private network that speaks the same. Answers are bounded in time and bytes.
 */
import { z } from "zod";
import { boundedBody } from "../../../base/bounded-body.ts";
import { jsonIn } from "../../../base/json.ts";
import type { EInvoicePayload } from "./e-invoice.ts";
import { type EInvoicePortal, PortalError, type Registration } from "./portal.ts";

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 256 * 1024;
/** The document is registered already. */
const DUPLICATE = "2150";

const registered = z.object({
  Irn: z.string().regex(/^[0-9a-f]{64}$/),
  AckNo: z.union([z.string(), z.number()]).transform(String),
  /** `2026-04-05 11:32:07`, Indian time. */
  AckDt: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  SignedQRCode: z.string().min(1).max(4000),
});

const answerShape = z.object({
  Status: z.union([z.string(), z.number()]).transform(Number),
  Data: z.unknown().optional(),
  ErrorDetails: z
    .array(z.object({ ErrorCode: z.string().max(20), ErrorMessage: z.string() }))
    .nullish()
    .transform((errors) => errors ?? []),
  InfoDtls: z
    .array(z.object({ InfCd: z.string(), Desc: z.unknown() }))
    .nullish()
    .transform((infos) => infos ?? []),
});

type Answer = z.output<typeof answerShape>;

/** @param url without a slash at the end */
export function httpPortal(url: string): EInvoicePortal {
  const base = `${url}/eicore/v1.03/Invoice`;
  return {
    async register(payload: EInvoicePayload, signal: AbortSignal): Promise<Registration> {
      const answer = await ask(base, signal, payload);
      if (answer.Status === 1) return registrationOf(answer.Data);
      const irn = duplicateOf(answer);
      if (irn === undefined) throw refusalOf(answer);
      const earlier = await ask(`${base}/irn/${irn}`, signal);
      if (earlier.Status !== 1) throw refusalOf(earlier);
      return registrationOf(earlier.Data);
    },
  };
}

/** @throws PortalError */
async function ask(url: string, stop: AbortSignal, body?: object): Promise<Answer> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
  let status: number;
  let text: string;
  try {
    const response = await fetch(url, {
      signal,
      redirect: "error",
      ...(body !== undefined && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    status = response.status;
    text = (await boundedBody(response.body, MOST_BYTES, tooLong)).toString();
  } catch (cause) {
    throw new PortalError("unclear", "the portal did not answer", { cause });
  }
  if (status === 401 || status === 403 || status === 429)
    throw new PortalError("refused", `the portal answered ${status}`);
  const answer = answerShape.safeParse(jsonIn(text));
  if (status >= 500 || !answer.success)
    throw new PortalError("unclear", `the portal answered ${status} in no known form`);
  return answer.data;
}

const tooLong = () => new Error("the answer is too long");

function registrationOf(data: unknown): Registration {
  const read = registered.safeParse(data);
  if (!read.success) throw new PortalError("unclear", "the portal's registration is in no known form");
  const { Irn, AckNo, AckDt, SignedQRCode } = read.data;
  const ackAtMs = Date.parse(`${AckDt.replace(" ", "T")}+05:30`);
  return { irn: Irn, ackNumber: AckNo, ackAtMs, signedQr: SignedQRCode };
}

const irnShape = z.object({ Irn: registered.shape.Irn });

function duplicateOf({ ErrorDetails, InfoDtls }: Answer): string | undefined {
  if (!ErrorDetails.some(({ ErrorCode }) => ErrorCode === DUPLICATE)) return undefined;
  const info = InfoDtls.find(({ InfCd }) => InfCd === "DUPIRN");
  return irnShape.safeParse(info?.Desc).data?.Irn;
}

function refusalOf({ ErrorDetails }: Answer): PortalError {
  const told = ErrorDetails.slice(0, 5).map(({ ErrorCode, ErrorMessage }) => `${ErrorCode} ${ErrorMessage}`);
  return new PortalError("invalid", `the portal refused the document: ${told.join("; ") || "no reason"}`);
}

/**
 * A simulated invoice registration portal on a loopback socket: checks a document, computes its IRN, signs its QR code with a key
 * of its own that nobody trusts. A document that is registered already is refused with error 2150 and its IRN, as the real portal
 * does. What it knows is in memory.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { generateKeyPair, SignJWT } from "jose";
import type { Clock } from "../../src/base/clock.ts";
import { createServer } from "../../src/base/network/node-http.ts";
import { type Payload, payloadShape, type Refusal, refusalsOf } from "./payload.ts";

export interface InvoicePortalOptions {
  /** A loopback address; default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly clock: Clock;
  /** Told of the port, the moment it listens. */
  readonly onListening?: (port: number) => void;
}

/** What goes wrong at the next registration: before or after its effect the portal answers 500, or drops the connection. */
export type PortalFault = "error_before" | "error_after" | "dropped_after" | "unauthorized";

export interface InvoicePortal {
  readonly url: string;
  /** Numbers of all documents that were registered. */
  readonly numbers: readonly string[];
  /** One for each of the next registrations. */
  readonly faults: PortalFault[];
  close(): Promise<void>;
}

interface Registered {
  readonly Irn: string;
  readonly AckNo: number;
  readonly AckDt: string;
  readonly SignedInvoice: string;
  readonly SignedQRCode: string;
  readonly number: string;
  readonly atMs: number;
  Status: "ACT" | "CNL";
}

const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_REGISTERED = 100_000;
const CANCEL_MS = 24 * 3_600_000;
const IST_MS = 5.5 * 3_600_000;
const PATH = "/eicore/v1.03/Invoice";

/** @throws the system's error where no port can be opened */
export async function startInvoicePortal(options: InvoicePortalOptions): Promise<InvoicePortal> {
  const { host = "127.0.0.1", port = 0 } = options;
  const portal = await Portal.open(options.clock);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 15_000 }, (request, response) => {
    portal.serve(request, response).catch(() => response.destroy());
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  const { address, family, port: open } = server.address() as AddressInfo;
  options.onListening?.(open);
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${open}`,
    get numbers() {
      return portal.numbers();
    },
    faults: portal.faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Key = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

class Portal {
  readonly faults: PortalFault[] = [];
  readonly #byIrn = new Map<string, Registered>();
  readonly #clock: Clock;
  readonly #key: Key;

  constructor(clock: Clock, key: Key) {
    this.#clock = clock;
    this.#key = key;
  }

  static async open(clock: Clock): Promise<Portal> {
    return new Portal(clock, (await generateKeyPair("RS256")).privateKey);
  }

  numbers(): string[] {
    return Array.from(this.#byIrn.values(), ({ number }) => number);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "" } = request;
    if (method === "POST" && url === PATH) return await this.#register(request, response);
    if (method === "POST" && url === `${PATH}/Cancel`) return await this.#cancel(request, response);
    const irn = new RegExp(`^${PATH}/irn/([0-9a-f]{64})$`).exec(url)?.[1];
    if (method !== "GET" || irn === undefined) return send(response, 404, failed("404", "no such page"));
    const found = this.#byIrn.get(irn);
    send(response, 200, found === undefined ? failed("2148", "IRN is not known") : succeeded(found));
  }

  async #register(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = payloadShape.safeParse(await bodyOf(request));
    const fault = this.faults.shift();
    if (fault === "unauthorized") return send(response, 401, failed("1005", "Invalid token"));
    if (fault === "error_before") return send(response, 500, {});
    if (!read.success) {
      const errors = read.error.issues
        .slice(0, 10)
        .map(({ path, message }) => ({ ErrorCode: "5002", ErrorMessage: `${path.join(".")}: ${message}` }));
      return send(response, 200, refused(errors));
    }
    const answer = await this.#registration(read.data);
    if (fault === "dropped_after") return void response.destroy();
    send(response, fault === "error_after" ? 500 : 200, fault === "error_after" ? {} : answer);
  }

  async #registration(payload: Payload): Promise<object> {
    const errors = refusalsOf(payload);
    if (errors.length > 0) return refused(errors);
    const irn = irnOf(payload);
    const earlier = this.#byIrn.get(irn);
    if (earlier?.Status === "CNL")
      return failed("2278", "IRN is already generated and cancelled for this document");
    if (earlier !== undefined) {
      const { AckNo, AckDt, Irn } = earlier;
      return refused([{ ErrorCode: "2150", ErrorMessage: "Duplicate IRN" }], { AckNo, AckDt, Irn });
    }
    if (this.#byIrn.size >= MAX_REGISTERED) return failed("9999", "the simulated portal is full");
    const registered = await this.#signed(irn, payload);
    // Two at once: the first one counts.
    const first = this.#byIrn.get(irn);
    if (first === undefined) this.#byIrn.set(irn, registered);
    return succeeded(first ?? registered);
  }

  async #signed(irn: string, payload: Payload): Promise<Registered> {
    const atMs = this.#clock.now();
    const AckDt = new Date(atMs + IST_MS).toISOString().replace("T", " ").slice(0, 19);
    const { SellerDtls, BuyerDtls, DocDtls, ValDtls, ItemList } = payload;
    const qr = {
      SellerGstin: SellerDtls.Gstin,
      BuyerGstin: BuyerDtls.Gstin,
      DocNo: DocDtls.No,
      DocTyp: DocDtls.Typ,
      DocDt: DocDtls.Dt,
      TotInvVal: ValDtls.TotInvVal,
      ItemCnt: ItemList.length,
      MainHsnCode: ItemList[0]?.HsnCd ?? "",
      Irn: irn,
      IrnDt: AckDt,
    };
    const sign = (data: object) =>
      new SignJWT({ data: JSON.stringify(data) })
        .setProtectedHeader({ alg: "RS256", kid: "simulated", typ: "JWT" })
        .setIssuer("SIMULATED")
        .sign(this.#key);
    const SignedQRCode = await sign(qr);
    const AckNo = 112_610_000_000_000 + this.#byIrn.size + 1;
    return {
      Irn: irn,
      AckNo,
      AckDt,
      SignedQRCode,
      SignedInvoice: await sign({ AckNo, AckDt, Irn: irn, ...payload }),
      number: DocDtls.No,
      atMs,
      Status: "ACT",
    };
  }

  async #cancel(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await bodyOf(request)) as { Irn?: unknown } | undefined;
    const found = this.#byIrn.get(String(body?.Irn));
    if (found === undefined) return send(response, 200, failed("2148", "IRN is not known"));
    if (found.Status === "CNL") return send(response, 200, failed("9999", "IRN is cancelled already"));
    if (this.#clock.now() - found.atMs > CANCEL_MS)
      return send(response, 200, failed("2270", "The allowed cancellation time is over"));
    found.Status = "CNL";
    send(response, 200, { Status: 1, Data: { Irn: found.Irn } });
  }
}

/** SHA-256 of GSTIN, financial year, type and number, one after another (e-invoice API of the NIC, "IRN"). */
export function irnOf({ SellerDtls, DocDtls }: Pick<Payload, "SellerDtls" | "DocDtls">): string {
  const [, month = 0, year = 0] = DocDtls.Dt.split("/").map(Number);
  const first = month >= 4 ? year : year - 1;
  const fy = `${first}-${String(first + 1).slice(-2)}`;
  return createHash("sha256").update(`${SellerDtls.Gstin}${fy}${DocDtls.Typ}${DocDtls.No}`).digest("hex");
}

/** Undefined where it is no JSON. @throws Error where it is too long */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error("the body is too long");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { "content-type": "application/json", "x-content-type-options": "nosniff" })
    .end(JSON.stringify(body));
}

function succeeded({ Irn, AckNo, AckDt, SignedInvoice, SignedQRCode, Status }: Registered): object {
  return { Status: 1, Data: { Irn, AckNo, AckDt, SignedInvoice, SignedQRCode, Status } };
}

const refused = (errors: readonly Refusal[], duplicate?: object): object => ({
  Status: 0,
  ErrorDetails: errors,
  ...(duplicate !== undefined && { InfoDtls: [{ InfCd: "DUPIRN", Desc: duplicate }] }),
});

const failed = (code: string, message: string): object =>
  refused([{ ErrorCode: code, ErrorMessage: message }]);

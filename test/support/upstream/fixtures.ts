/** A provider over a real socket that answers as a test says and remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Credential, Dialect, Endpoint, Provider, ProviderKey } from "../../../src/base/endpoint.ts";
import { platformKey } from "../../../src/base/provider-key.ts";
import type { UpstreamFailure } from "../../../src/inference/upstream/failure.ts";
import type { UpstreamCall, UpstreamHandler } from "../../../src/inference/upstream/upstreams.ts";
import { endpoint as anyEndpoint, provider as anyProvider } from "../routing/fixtures.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestProvider {
  readonly url: string;
  readonly asked: Asked[];
  /** Answers; default: 200 with `{}`. */
  answer: (asked: Asked, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startProvider(): Promise<TestProvider> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      provider.answer(one, response);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const provider: TestProvider = {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: (_, response) => response.end("{}"),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}

/** A provider with one key; without a credential it needs none. */
export type GivenProvider = Partial<Provider> & { readonly credential?: Credential };

export const endpointAt = (
  { credential, ...provider }: GivenProvider & { readonly baseUrl: string },
  given: Partial<Omit<Endpoint, "provider" | "capabilities">> = {},
): Endpoint => {
  const keys = [platformKey("p", 1, credential)];
  return anyEndpoint("e", { ...given, provider: { ...anyProvider("p"), keys, ...provider } });
};

export interface Heard {
  readonly status: number;
  readonly body: string;
  readonly failure: UpstreamFailure | undefined;
}

/** Runs a call to its end; `begun` gets it while it is under way. */
export function heard(
  start: (handler: UpstreamHandler) => UpstreamCall,
  begun: (call: UpstreamCall) => void = () => {},
): Promise<Heard> {
  return new Promise((resolve) => {
    let status = 0;
    let body = "";
    const call = start({
      onHead(code) {
        status = code;
      },
      onData(bytes, start, end) {
        body += bytes.toString("utf8", start, end);
      },
      onEnd: () => resolve({ status, body, failure: undefined }),
      onFailure: (failure) => resolve({ status, body, failure }),
    });
    begun(call);
  });
}

/** A call with the provider's first key, without a body or headers of the client's. */
export const plainCall = (endpoint: Endpoint, dialect: Dialect, stream = false) => ({
  endpoint,
  key: endpoint.provider.keys[0] as ProviderKey,
  dialect,
  parts: [Buffer.from("{}")],
  stream,
  headers: {},
});

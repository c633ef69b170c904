/**
 * The built-in OpenID Connect identity provider: the default for sign-in on a fresh start. Anyone who reaches it may sign in
 * as anyone, so it listens on loopback only and answers to loopback names only.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Provider } from "oidc-provider";
import { type Clock, type Random, systemRandom } from "../../src/base/clock.ts";
import { createServer } from "../../src/base/network/node-http.ts";
import { checkClients, type IdentityClient, interactionPath, openIdProvider } from "./openid-provider.ts";
import { errorPage, startPage } from "./pages.ts";
import { openPeople, type People, type Person } from "./people.ts";
import { isLoopback, refusal, securityHeaders, sendPage } from "./request.ts";
import { serveSignIn } from "./sign-in.ts";

export interface IdentityProviderOptions {
  /** A loopback address; default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, takes any free port, as does a port that is taken. The issuer, and so each identity, has it in its name. */
  readonly port?: number;
  /** JSON file of the people; without it, they are gone when the process ends. */
  readonly peopleFile?: string;
  /** An opened list, instead of a file: of whoever also changes it without a page. */
  readonly people?: People;
  readonly clients: readonly IdentityClient[];
  /** For how long sessions and codes are kept. Times inside tokens are the system's. */
  readonly clock: Clock;
  /** For the identifiers of people. Keys and tokens come from the system's CSPRNG always. */
  readonly random?: Random;
  /** Told of the port, the moment it listens. */
  readonly onListening?: (port: number) => void;
  /** Called with each problem that no page shows to the person, such as a failed notice of sign-out. Default: none is reported. */
  readonly report?: (problem: string) => void;
}

export interface IdentityProvider {
  /** `http://127.0.0.1:<port>`, or that of another loopback address that was asked for, whatever name a browser uses. */
  readonly issuer: string;
  people(): readonly Person[];
  /** Removes a person, if there is one. */
  forget(sub: string): Promise<void>;
  /** Cuts every connection and frees the port, once a write of the people file that is under way has ended. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 256;
const HEAD_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;

/**
 * @throws an Error where the host is not loopback, a client is not well described, or the file of people cannot be read; the
 * system's error where no port can be opened
 */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const { host = "127.0.0.1", port = 0, clients, clock, random = systemRandom } = options;
  if (!isLoopback(host)) {
    throw new Error(
      `The built-in identity provider lets anyone sign in as anyone, so it listens on loopback only, not on "${host}". ` +
        "Set OIDC_ISSUER to an identity provider of yours.",
    );
  }
  const report = options.report ?? (() => undefined);
  const people = options.people ?? (await openPeople(options.peopleFile, random));
  const server = createServer({ headersTimeout: HEAD_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS });
  server.maxConnections = MAX_CONNECTIONS;
  const address = await listen(server, host.toLowerCase() === "localhost" ? "127.0.0.1" : host, port);
  options.onListening?.(address.port);
  const closing = new AbortController();
  const issuer = `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  try {
    const provider = openIdProvider({ issuer, clients, people, clock, report, closed: closing.signal });
    await checkClients(provider, clients);
    server.on("request", requestListener(provider, people, clients, report));
  } catch (error) {
    await close(server);
    throw error;
  }
  return {
    issuer,
    people: () => people.all(),
    forget: (sub) => people.remove(sub),
    async close() {
      closing.abort();
      await Promise.all([close(server), people.saved()]);
    },
  };
}

const INTERACTION = new RegExp(`^${interactionPath("([\\w-]{1,64})")}(?:\\?|$)`);

function requestListener(
  provider: Provider,
  people: People,
  clients: readonly IdentityClient[],
  report: (problem: string) => void,
) {
  const serveProtocol = provider.callback();
  const uris = clients.flatMap(({ redirectUris, postLogoutRedirectUris }) => [
    ...redirectUris,
    ...postLogoutRedirectUris,
  ]);
  const headers = Object.entries(securityHeaders([...new Set(uris.map((uri) => new URL(uri).origin))]));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of headers) response.setHeader(name, value);
    const refused = refusal(request);
    if (refused !== undefined) {
      // A body may still be on its way, and nobody reads it.
      response.setHeader("connection", "close");
      return sendPage(response, refused.status, errorPage(refused.reason));
    }
    const { url = "", method } = request;
    if (url === "/" && method === "GET") return sendPage(response, 200, startPage());
    const uid = INTERACTION.exec(url)?.[1];
    if (uid === undefined) return serveProtocol(request, response);
    if (method === "GET" || method === "POST")
      return serveSignIn({ provider, people }, uid, request, response);
    sendPage(response, 405, errorPage("This page takes GET and POST."));
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    serve(request, response).catch((error: unknown) => {
      // The client has gone, with a part of its body.
      if (request.socket.destroyed) return;
      report(`A sign-in at the built-in identity provider failed: ${error}`);
      if (response.headersSent) return void response.destroy();
      sendPage(response, 500, errorPage("The identity provider failed; its operator's log says why."));
    });
  };
}

/** On any port, if this one is taken. */
function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE" || port === 0) return reject(error);
      listen(server, host, 0).then(resolve, reject);
    };
    server.once("error", onError);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener("error", onError);
      resolve(server.address() as AddressInfo);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

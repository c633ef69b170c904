/** A server of pictures and documents, and requests that name them by address. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "./media.fixtures.ts";

export const PNG = Buffer.from(`\x89PNG\r\n\x1a\n${"p".repeat(100)}`, "latin1");
export const PDF = Buffer.from(`%PDF-1.7\n${"d".repeat(101)}`, "latin1");

export type Serve = (response: ServerResponse, request: IncomingMessage) => void;

export interface MediaServer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** The requests so far, in order. */
  readonly asked: IncomingMessage[];
  /** What each path is answered; 404 where none. */
  readonly paths: Map<string, Serve>;
  /** Connections that are open. */
  readonly open: () => number;
  close(): Promise<void>;
}

export const sends =
  (body: Buffer | string, type = "image/png"): Serve =>
  (response) =>
    response.writeHead(200, type === "" ? {} : { "content-type": type }).end(body);

export const redirects =
  (to: string, status = 302): Serve =>
  (response) =>
    response.writeHead(status, { location: to }).end();

export async function startMediaServer(): Promise<MediaServer> {
  const asked: IncomingMessage[] = [];
  const paths = new Map<string, Serve>();
  let open = 0;
  const server = createServer((request, response) => {
    asked.push(request);
    const path = (request.url as string).replace(/\?.*/, "");
    (paths.get(path) ?? ((other) => other.writeHead(404).end()))(response, request);
  });
  server.on("connection", (socket) => {
    open++;
    socket.on("close", () => open--);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    paths,
    open: () => open,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Kind = "image" | "document";

/** A part that names an address as the format's clients say it; undefined where they cannot. */
export function addressed(client: Client, kind: Kind, url: string): object | undefined {
  const isImage = kind === "image";
  switch (client) {
    case "chat":
      return isImage
        ? { type: "image_url", image_url: { url } }
        : { type: "file", file: { filename: "a.pdf", file_data: url } };
    case "responses":
      return isImage
        ? { type: "input_image", detail: "auto", image_url: url }
        : { type: "input_file", file_url: url };
    case "messages":
      return { type: kind, source: { type: "url", url } };
    case "generate":
      return { type: kind, url };
  }
}

/** A user's message of these parts. */
export function said(client: Client, parts: readonly (object | undefined)[]): object {
  if (client === "responses") return { input: [{ type: "message", role: "user", content: parts }] };
  const messages = [{ role: "user", content: parts }];
  return client === "messages" ? { max_tokens: 100, messages } : { messages };
}

/** The result of a tool. */
export function returned(client: Client, part: object | undefined): object {
  switch (client) {
    case "chat":
      return {
        messages: [
          { role: "user", content: "q" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c1", content: [part] },
        ],
      };
    case "responses":
      return {
        input: [
          { role: "user", content: "q" },
          { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
          { type: "function_call_output", call_id: "c1", output: [part] },
        ],
      };
    case "messages":
      return {
        max_tokens: 100,
        messages: [
          { role: "user", content: "q" },
          { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [part] }] },
        ],
      };
    case "generate":
      return {
        messages: [
          { role: "user", content: "q" },
          { role: "assistant", content: [{ type: "tool_call", id: "c1", name: "f", arguments: "{}" }] },
          { role: "user", content: [{ type: "tool_result", id: "c1", content: [part] }] },
        ],
      };
  }
}

/** A small SMTP server (RFC 5321) on loopback that takes or refuses mails as a test says, and keeps what it was given. */
import { createServer, type Server, type Socket } from "node:net";

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came, without the dots of transparency. */
  readonly data: string;
  readonly signedIn: string;
}

export type Verb = "GREETING" | "EHLO" | "AUTH" | "MAIL" | "RCPT" | "DATA" | "MESSAGE";

export class SmtpStandIn {
  /** Mails whose end was seen, whatever was answered. */
  readonly received: Received[] = [];
  /** Lines of the client, in order; of mails none. */
  readonly lines: string[] = [];
  /** Answers instead of the usual ones, by verb, each used once; "silence": none. */
  readonly answers: Partial<Record<Verb, string[]>> = {};
  extensions: string[] = ["8BITMIME"];
  onConnection: () => void = () => {};
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    this.onConnection();
    socket.on("close", () => this.#sockets.delete(socket)).on("error", () => {});
    const mail = { from: "", to: [] as string[], signedIn: "" };
    let [buffered, isInData] = ["", false];
    const say = (verb: Verb, usual: string) => {
      const answer = this.answers[verb]?.shift() ?? usual;
      if (answer !== "silence") socket.write(`${answer}\r\n`);
      return answer;
    };
    const command = (line: string) => {
      this.lines.push(line);
      const verb = line.split(/[ :]/)[0]?.toUpperCase();
      if (verb === "EHLO")
        say(
          "EHLO",
          ["stand-in", ...this.extensions]
            .map((text, i, all) => `250${i < all.length - 1 ? "-" : " "}${text}`)
            .join("\r\n"),
        );
      else if (verb === "AUTH") {
        mail.signedIn = Buffer.from(line.split(" ")[2] ?? "", "base64").toString();
        say("AUTH", "235 welcome");
      } else if (verb === "MAIL") {
        Object.assign(mail, { from: line.slice("MAIL FROM:".length), to: [] });
        say("MAIL", "250 ok");
      } else if (verb === "RCPT") {
        mail.to.push(line.slice("RCPT TO:".length));
        say("RCPT", "250 ok");
      } else if (verb === "DATA") isInData = say("DATA", "354 go on").startsWith("354");
      else if (verb === "QUIT") socket.end("221 bye\r\n");
      else socket.write(verb === "RSET" ? "250 ok\r\n" : "502 not here\r\n");
    };
    say("GREETING", "220 stand-in");
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      buffered += chunk;
      for (;;) {
        const end = buffered.indexOf(isInData ? "\r\n.\r\n" : "\r\n");
        if (end < 0) return;
        const text = buffered.slice(0, end);
        buffered = buffered.slice(end + (isInData ? 5 : 2));
        if (isInData) {
          isInData = false;
          this.received.push({ ...mail, to: [...mail.to], data: text.replaceAll("\r\n..", "\r\n.") });
          say("MESSAGE", "250 taken");
        } else command(text);
      }
    });
  }
}

/** Value of a header, unfolded; undefined where there is none. */
export function headerOf(data: string, name: string): string | undefined {
  const head = data.slice(0, data.indexOf("\r\n\r\n")).replace(/\r\n[ \t]+/g, " ");
  return head
    .split("\r\n")
    .find((line) => line.toLowerCase().startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim();
}

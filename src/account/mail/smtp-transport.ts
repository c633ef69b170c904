/**
 * Hands mails to an SMTP server over a few kept connections. Passwords and mails never travel in clear: STARTTLS is demanded
 * unless the server is on this machine.
 */

import { Once } from "../../base/once.ts";
import { FinalFailure } from "../../store/jobs/job.ts";
import { loadNodemailer, type MailTransport, nodemailerOptions } from "./message.ts";
import type { SmtpServer } from "./settings.ts";

const MOST_CONNECTIONS = 2;
const CONNECT_MS = 20_000;
/** Silence of the server; RFC 5321, section 4.5.3.2, grants it minutes, and the next try has its chance. */
const SILENCE_MS = 60_000;
const IDLE_MS = 15_000;

export function smtpTransport(server: SmtpServer, onFailure: (error: unknown) => void): MailTransport {
  let isClosed = false;
  // A module that could not be read may be there at the next try.
  const transporter = new Once(async () => open(await loadNodemailer(), server, onFailure));
  return {
    async send(message, signal) {
      const sender = await transporter.get();
      if (isClosed) throw new Error("the process stops");
      try {
        await sender.sendMail({ ...nodemailerOptions(message), signal });
      } catch (error) {
        throw failureOf(error);
      }
    },
    close() {
      isClosed = true;
      void transporter.made?.then(
        (sender) => sender.close(),
        () => {},
      );
    },
  };
}

function open(
  create: Awaited<ReturnType<typeof loadNodemailer>>,
  { host, port, isTls, isLoopback, user, password }: SmtpServer,
  onFailure: (error: unknown) => void,
) {
  const transporter = create({
    pool: true,
    maxConnections: MOST_CONNECTIONS,
    // A kept connection that the server had closed: the mail goes over another one. All other tries are the job's.
    maxRequeues: 1,
    host,
    port,
    secure: isTls,
    requireTLS: !isLoopback && !isTls,
    // A certificate of a server on this machine is seldom one that anybody vouches for, and nobody listens in between.
    ignoreTLS: isLoopback && !isTls,
    tls: { minVersion: "TLSv1.2", rejectUnauthorized: !isLoopback },
    ...(user !== "" && { auth: { user, pass: password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    idleTimeout: IDLE_MS,
  });
  // Without a listener an "error" event ends the process.
  transporter.on("error", onFailure);
  return transporter;
}

/** Answers to signing in (RFC 4954, section 6): the settings are wrong, not the mail, which waits until they are mended. */
const SIGN_IN_CODES = new Set([530, 534, 535, 538]);

/** A 5xx answer to sender, recipient or message is final (RFC 5321, section 4.2.1); anything else may pass. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, responseCode, permanent } = error as Error & {
    code?: string;
    responseCode?: number;
    permanent?: boolean;
  };
  const isOfMail = code === "EENVELOPE" || code === "EMESSAGE";
  if (!isOfMail || permanent !== true || SIGN_IN_CODES.has(responseCode ?? 0)) return error;
  return new FinalFailure(error.message, { cause: error });
}

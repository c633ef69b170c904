/**
 * A mail ready to be sent, and how it is handed to nodemailer, which writes it (RFC 5322). The module is loaded at the first
 * mail: most processes send none.
 */
import type { SendMailOptions } from "nodemailer";
import { Once } from "../../base/once.ts";
import { loadPieces } from "../../base/process/modules.ts";
import type { Attachment } from "./letter.ts";
import type { Mailbox } from "./settings.ts";

export interface Message {
  /** The id of its job. */
  readonly id: string;
  /** Whom it is from; empty for the installation. */
  readonly orgId: string;
  /** When its job was put; the same in each try. */
  readonly createdAtMs: number;
  readonly from: Mailbox;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly attachments?: readonly Attachment[];
}

/** Where mails go. */
export interface MailTransport {
  /**
   * @param signal aborted when it takes too long or the process stops: the mail may be on its way all the same
   * @throws FinalFailure where the mail was refused for good
   */
  send(message: Message, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The same for each try of a mail: a receiver recognises one that comes twice (RFC 5322, section 3.6.4). */
export const messageIdOf = ({ id, from }: Pick<Message, "id" | "from">): string =>
  `<${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`;

/** Addresses are objects, which are not parsed: no name or address can add a recipient. Nothing is read from files or URLs. */
export const nodemailerOptions = (message: Message): SendMailOptions => ({
  from: { name: message.from.name, address: message.from.address },
  to: { name: "", address: message.to },
  subject: message.subject,
  text: message.text,
  html: message.html,
  attachments: (message.attachments ?? []).map(({ name, type, bytes }) => ({
    filename: name,
    contentType: type,
    content: Buffer.from(bytes),
  })),
  date: new Date(message.createdAtMs),
  messageId: messageIdOf(message),
  // RFC 3834, section 5: no automatic answers to it.
  headers: { "Auto-Submitted": "auto-generated" },
  disableFileAccess: true,
  disableUrlAccess: true,
});

const nodemailer = new Once(async () => {
  await loadPieces("nodemailer", import.meta.filename);
  return (await import("nodemailer")).createTransport;
});

/** A module at a time, so that no call waits for it. @returns the function that makes transports */
export const loadNodemailer = () => nodemailer.get();

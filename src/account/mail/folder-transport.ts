/**
 * Writes mails as `.eml` files (RFC 5322) instead of sending them: for a gateway without an SMTP server. A file appears whole
 * or not at all, under the id of its job, so a try that is repeated replaces its file. Mails hold secrets: files are 0600.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../base/file-errors.ts";
import { loadNodemailer, type MailTransport, type Message, nodemailerOptions } from "./message.ts";

const MOST_FILES = 1000;
/** Ids of jobs sort by time, and so do the names. */
const NAME = /^job_[0-9A-HJKMNP-TV-Z]{26}\.eml$/;
/** The file of a mail that is still being written: it is renamed once it is whole. */
const DRAFT = /^job_[0-9A-HJKMNP-TV-Z]{26}\.part$/;
/** The org whose mail it is, in a header that mails to people do not have; before the body, which is made of what orgs say. */
const ORG_HEADER = "X-Weir-Org";
const ORG_LINE = /^x-weir-org: (org_\w+)\r?$/im;
/** A head is shorter. */
const HEAD_BYTES = 64 * 1024;

export class MailFolder implements MailTransport {
  readonly #folder: string;
  readonly #mostFiles: number;
  /** One trims at a time. */
  #trimmed: Promise<void> = Promise.resolve();

  constructor(dataDir: string, mostFiles = MOST_FILES) {
    this.#folder = join(dataDir, "mail");
    this.#mostFiles = mostFiles;
  }

  async send(message: Message): Promise<void> {
    const name = `${message.id}.eml`;
    if (!NAME.test(name)) throw new Error(`${message.id} is no name of a mail`);
    const text = await written(message);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const draft = join(this.#folder, `${message.id}.part`);
    await writeFile(draft, text, { mode: 0o600 });
    // A draft that a killed process left may have another mode.
    await chmod(draft, 0o600);
    await rename(draft, join(this.#folder, name));
    const trimmed = this.#trimmed.then(() => this.#trim());
    this.#trimmed = trimmed.catch(() => {});
    await trimmed;
  }

  /** Newest first. */
  async names(): Promise<string[]> {
    const names = await this.#all();
    return names
      .filter((name) => NAME.test(name))
      .sort()
      .reverse();
  }

  /** @param name one of `names` @returns undefined where there is no such mail */
  async read(name: string): Promise<Buffer | undefined> {
    if (!NAME.test(name)) return undefined;
    try {
      return await readFile(join(this.#folder, name));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /**
   * Removes an org's mails, with those that a killed process left half written, and those of which nobody can tell whose they
   * are: earlier releases did not write it down.
   */
  async erase(orgId: string): Promise<void> {
    for (const name of await this.#all()) {
      if (!NAME.test(name) && !DRAFT.test(name)) continue;
      const owner = await this.#ownerOf(name);
      if (owner === undefined || owner === orgId) await rm(join(this.#folder, name), { force: true });
    }
  }

  async #ownerOf(name: string): Promise<string | undefined> {
    const bytes = await readFile(join(this.#folder, name)).catch(() => Buffer.alloc(0));
    const head = bytes.toString("latin1", 0, HEAD_BYTES);
    return ORG_LINE.exec(head.slice(0, Math.max(0, head.indexOf("\r\n\r\n"))))?.[1];
  }

  async #all(): Promise<string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  close(): void {}

  async #trim(): Promise<void> {
    for (const name of (await this.names()).slice(this.#mostFiles))
      await rm(join(this.#folder, name), { force: true });
  }
}

async function written(message: Message): Promise<Buffer> {
  const create = await loadNodemailer();
  const transporter = create({ streamTransport: true, buffer: true, newline: "windows" });
  const options = nodemailerOptions(message);
  const headers = { ...options.headers, ...(message.orgId !== "" && { [ORG_HEADER]: message.orgId }) };
  const { message: text } = await transporter.sendMail({ ...options, headers });
  if (!Buffer.isBuffer(text)) throw new Error("the mail was not written as a whole");
  return text;
}

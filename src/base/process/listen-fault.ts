/** Tests whether an address can be bound, and if not, why: in a line that names the variable to change. */
import { createServer } from "node:net";

/**
 * Listens briefly. Resolves with undefined on success, else with the reason in a line for the operator.
 * @param port 0: any free one.
 * @param prefix of the variables `HOST` and `PORT` that say so
 */
export function listenFault(host: string, port: number, prefix = ""): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(faultText({ host, port, prefix }, error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

function faultText(
  { host, port, prefix }: { readonly host: string; readonly port: number; readonly prefix: string },
  { code, message }: NodeJS.ErrnoException,
): string {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is in use on ${host}: stop what listens there, or set ${prefix}PORT to another`;
    case "EACCES":
      return `port ${port} may not be listened on by this user: set ${prefix}PORT to 1024 or above`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EINVAL":
      return `${prefix}HOST=${host} is no address of this machine: set it to one, such as 127.0.0.1 or 0.0.0.0`;
    default:
      return `cannot listen on ${host}:${port}: ${message}`;
  }
}

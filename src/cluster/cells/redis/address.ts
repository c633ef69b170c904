/** Addresses of Redis, as `REDIS_URL` has them. Errors never repeat the value, which may hold a password. */
import { LOOPBACK_HOST } from "../../../base/network/loopback-host.ts";

interface RedisLogin {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export type RedisAddress =
  /** A server, by `redis://` or `rediss://`, with user, password and database. */
  | { readonly kind: "url"; readonly url: string }
  /** A socket of this machine. */
  | { readonly kind: "socket"; readonly path: string }
  /** Sentinels, which know the server that is the master now. */
  | {
      readonly kind: "sentinels";
      readonly sentinels: readonly { readonly host: string; readonly port: number }[];
      readonly master: string;
      /** At the master. */
      readonly login: RedisLogin;
      /** At the Sentinels, which know nothing of the master's users. */
      readonly sentinelLogin: RedisLogin;
      readonly db: number;
      /** Whether the master and the Sentinels are reached over TLS. */
      readonly isTls: boolean;
    };

const FORMS =
  "use redis://host:6379, rediss://host:6380, /path/of/socket, or redis-sentinel://host:26379,host:26379/name-of-master, behind which ?sentinel=user:password may follow";
const SENTINEL =
  /^rediss?-sentinel:\/\/(?:([^@/]*)@)?([^/@]+)\/([\w.-]{1,200})(?:\/(\d{1,4}))?(?:\?sentinel=([^&#]+))?$/;
const SENTINEL_PORT = 26_379;
const MOST_SENTINELS = 32;

/** @throws Error with what is wrong, for the operator */
export function redisAddress(text: string): RedisAddress {
  if (text.startsWith("/")) return { kind: "socket", path: text };
  if (text.startsWith("unix://")) {
    const path = text.slice("unix://".length);
    if (!path.startsWith("/"))
      throw new Error("unix:// is followed by an absolute path: unix:///run/redis.sock");
    return { kind: "socket", path };
  }
  if (/^rediss?-cluster:/.test(text))
    throw new Error(
      "an installation is one slot of a Redis Cluster, so it gains nothing by one: use a server with Sentinels",
    );
  if (/^rediss?-sentinel:/.test(text)) return sentinelsOf(text);
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text) || new URL(text).hostname === "")
    throw new Error(FORMS);
  return { kind: "url", url: text };
}

/** Whether no other machine reaches it under this address. */
export const isOnThisMachine = (address: RedisAddress): boolean =>
  address.kind === "socket" ||
  (address.kind === "url" && LOOPBACK_HOST.test(new URL(address.url).hostname.toLowerCase()));

function sentinelsOf(text: string): RedisAddress {
  const [, login, list = "", master = "", db = "0", sentinelLogin] = SENTINEL.exec(text) ?? [];
  const hosts = list.split(",").filter((host) => host !== "");
  if (
    hosts.length === 0 ||
    hosts.length > MOST_SENTINELS ||
    !hosts.every((host) => URL.canParse(`tcp://${host}`))
  )
    throw new Error(FORMS);
  return {
    kind: "sentinels",
    sentinels: hosts.map((text) => {
      const { hostname, port } = new URL(`tcp://${text}`);
      return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? SENTINEL_PORT : Number(port) };
    }),
    login: loginOf(login),
    sentinelLogin: loginOf(sentinelLogin),
    master,
    db: Number(db),
    isTls: text.startsWith("rediss"),
  };
}

/** `user:password`, `:password` or `password`; each part may be escaped as in URLs. */
function loginOf(text = ""): RedisLogin {
  const at = text.indexOf(":");
  const part = (value: string) => (value === "" ? undefined : decoded(value));
  return { username: at < 0 ? undefined : part(text.slice(0, at)), password: part(text.slice(at + 1)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("the user or password has a % that is no escape");
  }
}

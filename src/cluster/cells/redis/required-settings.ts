/** Settings that a Redis must have to be trusted with money: what it acknowledged is on its disk, and it drops nothing. */
export const REQUIRED_SETTINGS: Readonly<Record<string, string>> = {
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
};

/** For the command line of `redis-server`. */
export const redisArguments = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);

/** nginx as a plain reverse proxy, one worker: like the pipe, but in C. No access log. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UPSTREAM_MODEL } from "../cases.ts";
import { descendants } from "../measure.ts";
import { freePort, untilReady } from "../processes.ts";
import { findCommand } from "./installed.ts";
import { type Target, Unavailable } from "./target.ts";

export const nginx: Target = {
  name: "nginx",
  about: "nginx reverse proxy, 1 worker, unbuffered",
  peer: false,
  async start({ processes, upstreamUrl, scratchDir }) {
    const command = findCommand("nginx", ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"]);
    if (command === undefined) throw new Unavailable("not installed (Debian: apt-get install nginx-light)");
    const port = await freePort();
    const dir = join(scratchDir, "nginx");
    mkdirSync(dir);
    const file = join(dir, "nginx.conf");
    writeFileSync(file, config(dir, port, new URL(upstreamUrl).host));
    const args = ["-p", dir, "-c", file, "-e", join(dir, "error.log")];
    const started = await processes.start("nginx", command, args);
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/healthz`, 10_000);
    // The master only supervises; the worker is measured.
    return {
      baseUrl,
      headers: {},
      model: UPSTREAM_MODEL,
      pid: descendants(started.pid)[0]?.pid ?? started.pid,
    };
  },
};

const config = (dir: string, port: number, upstream: string): string => `
${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log error;
events { worker_connections 8192; }
http {
  access_log off;
  client_max_body_size 0;
  client_body_buffer_size 256k;
  keepalive_requests 1000000000;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  upstream simulator {
    server ${upstream};
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    tcp_nodelay on;
    location = /healthz { return 200 "ok"; }
    location / {
      proxy_pass http://simulator;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 300s;
    }
  }
}
`;

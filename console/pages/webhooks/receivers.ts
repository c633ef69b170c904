/** Receivers that verify signature and time, as docs/webhooks.md has them: a test compares the two. */
export const RECEIVERS = [
  [
    "Node",
    `import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
const hmac = () => createHmac("sha256", Buffer.from(process.env.WEBHOOK_SECRET.replace("whsec_", ""), "base64"));
const isEqual = (a, b) => a.length === b.length && timingSafeEqual(a, b);
createServer(async (request, response) => {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": sent = "" } = request.headers;
  const body = Buffer.concat(await request.toArray());
  const own = Buffer.from(\`v1,\${hmac().update(\`\${id}.\${time}.\`).update(body).digest("base64")}\`);
  const isSigned = sent.split(" ").some((one) => isEqual(Buffer.from(one), own));
  response.writeHead(isSigned && Math.abs(Date.now() / 1000 - time) < 300 ? 204 : 400).end();
}).listen(process.env.PORT);`,
  ],
  [
    "Python",
    `import base64, hmac, http.server, os, time
key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        head = [self.headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")]
        own = b"v1," + base64.b64encode(hmac.digest(key, f"{head[0]}.{head[1]}.".encode() + body, "sha256"))
        signed = any(hmac.compare_digest(one.encode(), own) for one in head[2].split())
        self.send_response(204 if signed and abs(time.time() - int(head[1])) < 300 else 400)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()`,
  ],
] as const;

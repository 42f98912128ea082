// A server for tests, with real models.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';

/** Serves models, {name: folder}, on free ports; `flags` follow. */
export async function serve(models, ...flags) {
  const process_ = spawn(process.env.ATTEND_SERVER, [
    ...Object.entries(models).map(([name, path]) => `--model=${name}=${path}`),
    '--host=127.0.0.1', '--port=0', '--http-host=127.0.0.1', '--http-port=0',
    '--dtype=f32', '--kv-cache-bytes=64MiB', ...flags,
  ], {stdio: ['ignore', 'ignore', 'pipe']});
  const ended = once(process_, 'exit');
  const log = [];
  for await (const line of createInterface(process_.stderr)) {
    log.push(line);
    const ready = /event=ready .*http_port=(\d+)/.exec(line);
    if (!ready) continue;
    process_.stderr.resume();  // or the pipe would be full some time
    return {
      port: Number(ready[1]),
      url: `http://127.0.0.1:${ready[1]}/`,
      async stop() {
        process_.kill();
        const [code] = await ended;
        if (code !== 0) throw new Error(`the server's exit code is ${code}`);
      },
    };
  }
  throw new Error(`the server ended:\n${log.join('\n')}`);
}

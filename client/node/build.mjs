// Makes dist/ of src/: the definition of the API, types of its messages, and the
// JavaScript.
import {execFileSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PROTOS = ['attend/v1/attend.proto', 'attend/v1/status_details.proto',
                'grpc/health/v1/health.proto'];

function run(program, ...given) {
  execFileSync(process.execPath, [here(`node_modules/${program}`), ...given],
               {stdio: ['ignore', 'ignore', 'inherit'], cwd: here('.')});
}

rmSync(here('dist'), {recursive: true, force: true});
rmSync(here('src/generated'), {recursive: true, force: true});
mkdirSync(here('dist'));
for (const proto of PROTOS) {
  cpSync(here(`../../proto/${proto}`), here(`dist/proto/${proto}`));
}
run('@grpc/proto-loader/build/bin/proto-loader-gen-types.js',
    '--longs=String', '--enums=String', '--defaults',
    '--inputTemplate=%sFields', '--outputTemplate=%s', '--includeComments',
    '--importFileExtension=.js', '--grpcLib=@grpc/grpc-js',
    '--includeDirs', here('dist/proto'), '--outDir', here('src/generated'),
    '--', 'attend/v1/attend.proto');
if (!existsSync(here('src/generated/attend.ts'))) {
  throw new Error('proto-loader-gen-types made no types');
}
run('typescript/bin/tsc', '-p', here('.'));

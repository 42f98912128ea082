// The methods and messages of the API, as its definition says.

import {fileURLToPath} from 'node:url';

import protoLoader from '@grpc/proto-loader';
import type {MessageTypeDefinition, ServiceDefinition} from '@grpc/proto-loader';

const definition = protoLoader.loadSync(
    ['attend/v1/attend.proto', 'attend/v1/status_details.proto',
     'grpc/health/v1/health.proto'],
    {
      includeDirs: [fileURLToPath(new URL('proto', import.meta.url))],
      longs: String,
      enums: String,
      defaults: true,
    });

type Message = MessageTypeDefinition<object, object>;

export const attend = definition['attend.v1.Attend'] as ServiceDefinition;
export const admin = definition['attend.v1.Admin'] as ServiceDefinition;
export const health = definition['grpc.health.v1.Health'] as ServiceDefinition;
export const statusDetails = definition['attend.v1.StatusDetails'] as Message;
export const retryInfo = definition['attend.v1.RetryInfo'] as Message;

/** The names of a message's fields, as they are in JavaScript. */
export function fieldsOf(message: Message): Set<string> {
  const {field} = message.type as {field: Array<{name: string}>};
  return new Set(field.map(({name}) => name.replace(
      /_([a-z])/g, (_, letter: string) => letter.toUpperCase())));
}

export const paramsFields =
    fieldsOf(definition['attend.v1.GenerationParams'] as Message);

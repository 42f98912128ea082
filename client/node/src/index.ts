/** Client of Attend, a server of transformer models on CPUs.
 *
 *     import {Client} from 'attend-client';
 *     const client = new Client('localhost:50051');
 *     for await (const part of client.translateStream('How are you?')) {
 *       process.stdout.write(part);
 *     }
 *     client.close();
 */

export {status} from '@grpc/grpc-js';

export {Client} from './client.js';
export {AttendError} from './errors.js';
export type {AnswerResult} from './generated/attend/v1/AnswerResult.js';
export type {ClassifyResult} from './generated/attend/v1/ClassifyResult.js';
export type {FillMaskResult} from './generated/attend/v1/FillMaskResult.js';
export type {GenerateResult} from './generated/attend/v1/GenerateResult.js';
export type {Model} from './generated/attend/v1/Model.js';
export type {QuestionFields} from './generated/attend/v1/Question.js';
export type {RerankResult} from './generated/attend/v1/RerankResult.js';
export type {ScoreResult} from './generated/attend/v1/ScoreResult.js';
export type {Tokenization} from './generated/attend/v1/Tokenization.js';
export type {Translation} from './generated/attend/v1/Translation.js';
export {chat, pair, tokens} from './inputs.js';
export type {Input, Inputs} from './inputs.js';
export type * from './options.js';
export type {ClientOptions, Retry, Tls} from './settings.js';

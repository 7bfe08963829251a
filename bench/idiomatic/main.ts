// Latitude's leads as the documentation of Nest and of its TypeORM module teaches, without attention to
// speed. bench/run.mjs starts it with one argument:
// {connection, poolSize}.
import 'reflect-metadata';
import { ClassSerializerInterceptor, ValidationPipe } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { type DatabaseOptions, AppModule } from './app.module.js';

const options = JSON.parse(process.argv[2] ?? '{}') as DatabaseOptions;
const app = await NestFactory.create(AppModule.forRoot(options), { logger: ['error', 'warn'] });
app.setGlobalPrefix('api/v1');
app.useGlobalPipes(
  new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }),
);
app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
await app.listen(0, '127.0.0.1');
console.log(`idiomatic Nest listens on ${await app.getUrl()}`);
process.once('SIGTERM', () => process.exit(0));

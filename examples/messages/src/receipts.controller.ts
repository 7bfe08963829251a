import { Body, Controller, Post, ValidationPipe } from '@nestjs/common';
import { IsIn, IsUUID } from 'class-validator';
import { type Call, CurrentCall, Webhook } from 'latitude';
import { MessagesService } from './messages.service.js';
import { ReceiptsVerifier } from './receipts.verifier.js';

/** What the SMS provider reports about a message. */
export class ReceiptDto {
  /** The organization, as it was sent with the message. */
  @IsUUID() account: string;
  @IsUUID() id: string;
  @IsIn(['delivered', 'failed']) status: 'delivered' | 'failed';
}

@Controller('api/v1/message-receipts')
export class ReceiptsController {
  constructor(private readonly messages: MessagesService) {}

  @Post()
  @Webhook({ verify: ReceiptsVerifier })
  receive(
    @CurrentCall() call: Call,
    @Body(new ValidationPipe({ whitelist: true })) { id, status }: ReceiptDto,
  ) {
    return this.messages.setStatus(call, id, status);
  }
}

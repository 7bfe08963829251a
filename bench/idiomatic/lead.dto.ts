import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';

const TEMPERATURES = ['cold', 'warm', 'hot'];
const SOURCES = ['manual', 'api', 'website', 'referral', 'import', 'other'];

export class UpdateLeadDto {
  @IsOptional() @IsString() @MaxLength(100) first_name?: string;
  @IsOptional() @IsString() @MaxLength(100) last_name?: string;
  @IsOptional() @IsString() @MaxLength(50) phone?: string;
  @IsOptional() @IsEmail() @MaxLength(254) email?: string;
  @IsOptional() @IsString() @MaxLength(200) company?: string;
  @IsOptional() @IsString() @MaxLength(200) address_street?: string;
  @IsOptional() @IsString() @MaxLength(100) city?: string;
  @IsOptional() @IsString() @MaxLength(2) state?: string;
  @IsOptional() @IsString() @MaxLength(10) zip?: string;
  @IsOptional() @IsString() @MaxLength(50) status?: string;
  @IsOptional() @IsIn(TEMPERATURES) temperature?: string;
  @IsOptional() @IsIn(SOURCES) source?: string;
  @IsOptional() @IsString() @MaxLength(5000) notes?: string;
  @IsOptional() @IsArray() @IsString({ each: true }) tags?: string[];
  @IsOptional() @IsObject() custom_fields?: Record<string, unknown>;
  @IsOptional() @IsBoolean() sms_opted_out?: boolean;
  @IsOptional() @IsBoolean() on_dnc_list?: boolean;
  @IsOptional() @IsString() @MaxLength(200) external_id?: string;
}

export class CreateLeadDto extends UpdateLeadDto {
  @IsString() @MaxLength(100) declare first_name: string;
}

export class ListLeadsDto {
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) page = 1;
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(100) limit = 50;
  @IsOptional() @IsString() @MaxLength(100) search?: string;
}

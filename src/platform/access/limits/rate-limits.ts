import { BlockList, isIP } from 'node:net';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InjectThrottlerOptions, normalizeIp } from '@nestjs/throttler';
import { ApiError } from '../../errors/api-error.js';
import type { RateLimitStorage, RateWindow } from './rate-limit.storage.js';
import { SharedRateLimitStorage } from './shared-rate-limit.storage.js';
import { replacedStorage } from './replaced-storage.js';
import type { Actor } from '../../data/call.js';
import { Instances } from '../../data/instances.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';

/** The limits of a key (docs/contract/limits.md#rate-limits). */
export type LimitName = 'reads' | 'writes' | 'messages';

/** The limit that refused a request; `address` is the limit of requests without a valid key. */
type LimitKind = LimitName | 'address';

/** Length of a window in milliseconds. */
export const WINDOW_MS = 60_000;

/** How many times larger the limits of an address are that many clients share. */
const TRUSTED_FACTOR = 100;

/** The length of a window in milliseconds, and the number of requests in it. */
interface WindowSize {
  readonly ttl: number;
  readonly limit: number;
}

interface Throttler extends WindowSize {
  readonly name: LimitName;
  /** The largest limit that a key can have of its own. */
  readonly maxOfKey?: number;
}

/** An actor, or the IP address of a caller without a valid key. */
type RateLimited = Pick<Actor, 'key' | 'limits'> | string;

/** Options of the throttler module, with one throttler for each limit. */
export interface RateLimitOptions {
  readonly throttlers: Throttler[];
  readonly storage: RateLimitStorage;
  /** Addresses and subnets that many clients share. */
  readonly trustedAddresses: readonly string[];
}

/** Counts requests in windows. All ways to call share them. */
@Injectable()
export class RateLimits implements OnModuleInit, OnApplicationShutdown {
  /** Number of refused requests, for the metrics. */
  readonly refusals = { reads: 0, writes: 0, messages: 0, address: 0 };
  private storage: RateLimitStorage;
  private readonly throttlers: Record<LimitName, Throttler>;
  private readonly trusted: BlockList;

  constructor(
    @InjectThrottlerOptions() { throttlers, storage, trustedAddresses }: RateLimitOptions,
    private readonly instances: Instances,
    private readonly discovery: DiscoveryService,
  ) {
    this.storage = storage;
    this.trusted = addressesOf(trustedAddresses);
    this.throttlers = Object.fromEntries(throttlers.map((one) => [one.name, one])) as Record<
      LimitName,
      Throttler
    >;
  }

  /** Adds a limit of what a module counts itself. */
  add(throttler: Throttler): void {
    this.throttlers[throttler.name] = throttler;
  }

  onModuleInit(): void {
    this.storage = replacedStorage(this.discovery, this.storage);
  }

  /** Connects to Redis if it keeps the windows. Commands do not call it. */
  async connect(): Promise<void> {
    await this.shared?.connect();
  }

  onApplicationShutdown(): void {
    this.shared?.disconnect();
  }

  /** Whether all instances share the limits through Redis. */
  get areShared(): boolean {
    return this.shared?.isOpen ?? false;
  }

  /** Returns a warning for operators if several instances use one database and do not share the limits. */
  async unsharedWarning(): Promise<string | undefined> {
    if (this.areShared) return undefined;
    const count = await this.instances.count();
    if (count < 2) return undefined;
    const reason = this.shared ? 'Redis cannot be used' : 'REDIS_URL is not set';
    return `${count} instances use this database, and each has rate limits of its own, because ${reason}.`;
  }

  private get shared(): SharedRateLimitStorage | undefined {
    return this.storage instanceof SharedRateLimitStorage ? this.storage : undefined;
  }

  /**
   * Counts a request, unless the limit of the window is reached.
   * @param caller the actor, or an IP address
   */
  count(
    limit: LimitName,
    caller: RateLimited,
    refusedAs: LimitKind = limit,
  ): MaybePromise<RateWindow> {
    return this.countIn(keyOf(limit, caller), this.limitOf(limit, caller), refusedAs);
  }

  /**
   * Counts several requests, or none of them.
   * @param amount how many; a negative number returns requests that were counted
   */
  countTogether(amount: number, limit: LimitName, caller: RateLimited): MaybePromise<RateWindow> {
    const { ttl, limit: hits } = this.limitOf(limit, caller);
    const counted = this.storage.count(keyOf(limit, caller), ttl, hits, amount);
    return mapMaybePromise(counted, (window) => {
      if (window.isBlocked) this.refusals[limit]++;
      return window;
    });
  }

  /**
   * Counts a request that was counted once as several.
   * @param amount how many requests it counts as
   * @returns a blocked window if there are not so many left; nothing is counted then
   */
  countAs(amount: number, limit: LimitName, caller: RateLimited): MaybePromise<RateWindow> {
    return mapMaybePromise(this.countTogether(amount - 1, limit, caller), (window) => {
      if (!window.isBlocked) return window;
      const returned = this.countTogether(-1, limit, caller);
      return mapMaybePromise(returned, (before) => ({ ...before, isBlocked: true }));
    });
  }

  /**
   * Counts a request of an IP address in its window of this name, by default that of requests without a valid key.
   * @throws ApiError `rate_limit_exceeded`
   */
  async countAddress(
    address: string,
    name = 'reads',
    size: WindowSize = this.throttlers.reads,
  ): Promise<void> {
    const own = this.sizeFor(address, size);
    const window = await this.countIn(keyOf(name, address), own, 'address');
    if (window.isBlocked) throw tooManyRequests(window, 'address', size.ttl);
  }

  /** Counts a request in the window of a key. */
  countIn(key: string, { ttl, limit }: WindowSize, refusedAs: LimitKind): MaybePromise<RateWindow> {
    return mapMaybePromise(this.storage.count(key, ttl, limit), (counted) => {
      if (counted.isBlocked) this.refusals[refusedAs]++;
      return counted;
    });
  }

  /** Returns the size of the windows of a limit. */
  limitOf(name: LimitName, caller?: RateLimited): WindowSize {
    const shared = this.throttlers[name];
    if (typeof caller === 'string') return this.sizeFor(caller, shared);
    if (!caller || name === 'messages') return shared;
    const ofKey = caller.key.limits?.[name];
    const own = ofKey && Math.min(ofKey, shared.maxOfKey ?? ofKey);
    const limit = caller.limits?.[name] ?? own;
    return limit === undefined ? shared : { ttl: shared.ttl, limit };
  }

  /** Returns the size of a window of an address. */
  private sizeFor(address: string, { ttl, limit }: WindowSize): WindowSize {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const isTrusted = isIP(address) > 0 && this.trusted.check(address, family);
    return { ttl, limit: isTrusted ? limit * TRUSTED_FACTOR : limit };
  }

  /** Returns the state of the window without counting. */
  peek(limit: LimitName, caller: RateLimited): MaybePromise<RateWindow> {
    const { ttl, limit: hits } = this.limitOf(limit, caller);
    return this.storage.peek(keyOf(limit, caller), ttl, hits);
  }
}

function addressesOf(ranges: readonly string[]): BlockList {
  const addresses = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) addresses.addAddress(address, family);
    else addresses.addSubnet(address, Number(prefix), family);
  }
  return addresses;
}

function keyOf(limit: string, caller: RateLimited): string {
  // The addresses of an IPv6 subnet share a window.
  return `${limit}:${typeof caller === 'string' ? normalizeIp(caller) : caller.key.id}`;
}

/** The part of a response that sets headers. */
interface HeaderTarget {
  setHeader(name: string, value: number): unknown;
}

type WindowState = Pick<RateWindow, 'totalHits' | 'endsAt' | 'limit'>;

/** The number of requests that are left in a window. */
export function remainingHits({ totalHits, limit }: WindowState): number {
  return Math.max(0, limit - totalHits);
}

/** Sets the `RateLimit-*` headers. */
export function setRateLimitHeaders(response: HeaderTarget, window: WindowState): void {
  response.setHeader('RateLimit-Limit', window.limit);
  response.setHeader('RateLimit-Remaining', remainingHits(window));
  response.setHeader('RateLimit-Reset', Math.ceil(window.endsAt / 1000));
}

/** Creates the error of a request that counts as several, and of which there are not so many left. */
export function tooManyAtOnce(amount: number, kind: LimitName, window: RateWindow): ApiError {
  const left = `${remainingHits(window)} of ${window.limit} ${kind} are left`;
  return refusalUntilEnd(window, `The request counts as ${amount} ${kind}, and ${left}`);
}

/** Creates the error of a request over the limit. */
export function tooManyRequests(window: RateWindow, kind: LimitKind, ttl = WINDOW_MS): ApiError {
  const counted = kind === 'address' ? 'requests without a valid key' : kind;
  const limit = `${window.limit} ${counted} in ${ttl / 1000} seconds`;
  return refusalUntilEnd(window, `The limit of ${limit} is reached`);
}

function refusalUntilEnd({ timeToExpire: seconds }: RateWindow, reason: string): ApiError {
  return new ApiError('rate_limit_exceeded', {
    message: `${reason}; the window ends in ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  });
}

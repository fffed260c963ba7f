#include "sim/redis_lua.hpp"

#include <cstdio>
#include <lua.hpp>
#include <new>
#include <utility>

namespace holdfast::sim {

using redis::value;

namespace {

/// Reading a global that is not there, or setting one, is an error: both are slips.
constexpr const char* strict_globals = R"lua(
local function refuse(_, name) error('Script attempted to access nonexistent global variable \'' .. tostring(name) .. '\'', 2) end
local allowed = { KEYS = true, ARGV = true }
setmetatable(_G, {
  __index = refuse,
  __newindex = function(t, name, v)
    if not allowed[name] then error('Attempt to modify a readonly table', 2) end
    rawset(t, name, v)
  end
})
)lua";

void push(lua_State* l, const std::string& text) { lua_pushlstring(l, text.data(), text.size()); }

/// A reply as a script sees it.
void push(lua_State* l, const value& v) {
  switch (v.what) {
    case value::kind::nil: lua_pushboolean(l, 0); return;
    case value::kind::integer: lua_pushnumber(l, static_cast<lua_Number>(v.number)); return;
    case value::kind::text: push(l, v.text); return;
    case value::kind::error:
      lua_createtable(l, 0, 1);
      push(l, v.text);
      lua_setfield(l, -2, "err");
      return;
    case value::kind::list:
    case value::kind::push:
      lua_createtable(l, static_cast<int>(v.items.size()), 0);
      for (std::size_t n = 0; n < v.items.size(); ++n) {
        push(l, v.items[n]);
        lua_rawseti(l, -2, static_cast<int>(n + 1));
      }
      return;
  }
}

std::string text_at(lua_State* l, int at) {
  std::size_t size = 0;
  const char* const bytes = lua_tolstring(l, at, &size);
  return bytes != nullptr ? std::string(bytes, size) : std::string();
}

/// Converts the result of a script to a reply. Numbers lose their fraction; a list ends at its first nil.
value reply_at(lua_State* l, int at) {
  value v;
  switch (lua_type(l, at)) {
    case LUA_TSTRING:
      v.what = value::kind::text;
      v.text = text_at(l, at);
      break;
    case LUA_TNUMBER:
      v.what = value::kind::integer;
      v.number = static_cast<std::int64_t>(lua_tonumber(l, at));
      break;
    case LUA_TBOOLEAN:
      if (lua_toboolean(l, at) != 0) {
        v.what = value::kind::integer;
        v.number = 1;
      }
      break;
    case LUA_TTABLE: {
      lua_getfield(l, at, "err");
      if (lua_type(l, -1) == LUA_TSTRING) {
        v.what = value::kind::error;
        v.text = text_at(l, -1);
        lua_pop(l, 1);
        break;
      }
      lua_pop(l, 1);
      v.what = value::kind::list;
      for (int n = 1;; ++n) {
        lua_rawgeti(l, at, n);
        const bool over = lua_isnil(l, -1);
        if (!over) v.items.push_back(reply_at(l, lua_gettop(l)));
        lua_pop(l, 1);
        if (over) break;
      }
      break;
    }
    default: break;
  }
  return v;
}

/// Creates the table that a script returns to report an error of its own.
int error_reply(lua_State* l) {
  lua_createtable(l, 0, 1);
  lua_pushvalue(l, 1);
  lua_setfield(l, -2, "err");
  return 1;
}

void set_list(lua_State* l, const char* name, const redis_lua::words& items) {
  lua_createtable(l, static_cast<int>(items.size()), 0);
  for (std::size_t n = 0; n < items.size(); ++n) {
    push(l, items[n]);
    lua_rawseti(l, -2, static_cast<int>(n + 1));
  }
  lua_setglobal(l, name);
}

}  // namespace

redis_lua::redis_lua(commands c) : commands_(std::move(c)), state_(luaL_newstate()) {
  if (state_ == nullptr) throw std::bad_alloc();
  for (const lua_CFunction library : {luaopen_base, luaopen_table, luaopen_string, luaopen_math}) {
    lua_pushcfunction(state_, library);
    lua_call(state_, 0, 0);
  }
  lua_createtable(state_, 0, 2);
  lua_pushlightuserdata(state_, this);
  lua_pushcclosure(state_, &redis_lua::call, 1);
  lua_setfield(state_, -2, "call");
  lua_pushcfunction(state_, &error_reply);
  lua_setfield(state_, -2, "error_reply");
  lua_setglobal(state_, "redis");
  if (luaL_dostring(state_, strict_globals) != 0) throw std::bad_alloc();
}

redis_lua::~redis_lua() { lua_close(state_); }

std::optional<std::string> redis_lua::load(const std::string& sha, std::string text) {
  if (cache_.contains(sha)) return std::nullopt;
  if (text.starts_with("#!")) text.erase(0, text.find('\n'));  // Redis reads the shebang itself
  if (luaL_loadbuffer(state_, text.data(), text.size(), "@user_script") != 0) {
    std::string why = "ERR Error compiling script (new function): " + text_at(state_, -1);
    lua_pop(state_, 1);
    return why;
  }
  cache_[sha] = luaL_ref(state_, LUA_REGISTRYINDEX);
  return std::nullopt;
}

value redis_lua::run(const std::string& sha, const words& keys, const words& args) {
  set_list(state_, "KEYS", keys);
  set_list(state_, "ARGV", args);
  lua_rawgeti(state_, LUA_REGISTRYINDEX, cache_.at(sha));
  const bool failed = lua_pcall(state_, 0, 1, 0) != 0;
  value v = reply_at(state_, lua_gettop(state_));
  lua_settop(state_, 0);
  if (failed) {  // a string: Lua's own; an error: a command's
    if (!v.is(value::kind::error)) v.text = "ERR " + v.text;
    v.what = value::kind::error;
    v.text += " script: " + sha;
  }
  return v;
}

void redis_lua::flush() {
  for (const auto& [sha, reference] : cache_) luaL_unref(state_, LUA_REGISTRYINDEX, reference);
  cache_.clear();
}

/// Lua's errors jump over our frames, which must have nothing to destroy then.
int redis_lua::call(lua_State* l) { return call_pushes_error(l) ? lua_error(l) : 1; }

bool redis_lua::call_pushes_error(lua_State* l) {
  const auto* const self = static_cast<const redis_lua*>(lua_touserdata(l, lua_upvalueindex(1)));
  words command;
  for (int n = 1; n <= lua_gettop(l); ++n) {
    if (lua_type(l, n) == LUA_TNUMBER) {
      char digits[40];
      std::snprintf(digits, sizeof digits, "%.17g", lua_tonumber(l, n));
      command.emplace_back(digits);
    } else if (lua_type(l, n) == LUA_TSTRING) {
      command.push_back(text_at(l, n));
    } else {
      push(l, std::string("ERR Lua redis lib command arguments must be strings or integers"));
      return true;
    }
  }
  if (command.empty()) {
    push(l, std::string("ERR Please specify at least one argument for this redis.call() call"));
    return true;
  }
  const value got = self->commands_(command);
  push(l, got);
  return got.is(value::kind::error);
}

}  // namespace holdfast::sim

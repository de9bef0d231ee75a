# The routes that Rails itself makes of a `config/routes.rb`: one JSON list of [verb, path, controller#action].
# What the file names of the application or of libraries is stubbed; calls of libraries that add routes are counted.
require "json"
require "logger"
require "active_support/all"
require "action_dispatch"
require "action_controller"

root = ARGV[0]
$calls = Hash.new(0)

class Stub < Module
  CONVERSIONS = %i[routes to_ary to_hash to_a to_model to_path to_regexp to_io to_int to_sym].freeze
  def method_missing(name, *, **, &) = CONVERSIONS.include?(name) ? super : Stub.instance
  def respond_to_missing?(name, *) = !CONVERSIONS.include?(name)
  def const_missing(name) = const_set(name, Stub.new)
  def to_s = "stub"
  def to_str = "stub"
  def call(*) = [404, {}, []]
  def to_proc = proc { true }
  def matches?(*) = true
  def self.instance = (@instance ||= new)
end

class Object
  def self.const_missing(name) = Object.const_set(name, Stub.new)
end

module Counted
  %i[devise_scope authenticate authenticated unauthenticated].each do |name|
    define_method(name) { |*_args, **_options, &block| block&.call }
  end
  %i[devise_for use_doorkeeper use_doorkeeper_openid_connect].each do |name|
    define_method(name) { |*_args, **_options, &_block| $calls[name] += 1 }
  end
end
ActionDispatch::Routing::Mapper.prepend(Counted)

# Later versions are told where a redirect is written.
module Located
  def initialize(status, block, *) = super(status, block)
end
ActionDispatch::Routing::Redirect.prepend(Located)

routes = ActionDispatch::Routing::RouteSet.new
routes.draw_paths << File.join(root, "config/routes") if routes.respond_to?(:draw_paths)
app = Struct.new(:routes) do
  def method_missing(*) = Stub.instance
  def respond_to_missing?(*) = true
end.new(routes)
module Rails; end
Rails.define_singleton_method(:application) { app }
Rails.define_singleton_method(:root) { Pathname.new(root) }
env = Object.new
def env.method_missing(name, *) = name == :production?
def env.respond_to_missing?(*) = true
Rails.define_singleton_method(:env) { env }
Rails.define_singleton_method(:configuration) { Stub.instance }
file = File.join(root, "config/routes.rb")
lines = File.read(file).gsub(/^\s*require(_relative)? .*$/, "")
eval(lines, TOPLEVEL_BINDING, file)
rows = routes.routes.map do |route|
  verb = route.verb.empty? ? "ANY" : route.verb
  defaults = route.defaults
  target = defaults[:controller] ? "#{defaults[:controller]}##{defaults[:action]}" : ""
  [verb, route.path.spec.to_s.delete_suffix("(.:format)"), target]
end
puts JSON.generate({ "routes" => rows, "libraries" => $calls })
